// Reports in Chromium: what a reader does, what must not happen, and how fast it is.
//
//   node browser_test.mjs --corun PROGRAM --packages DIR --page page.html [--shots DIR]
//
// DIR holds node_modules with puppeteer-core; page.html is the page that the build made (build/release/report_page.html).
// --shots: also pictures and a PDF for the eye. Prints a line per check; exit code 1 if one failed, 77 without Chromium.
import {execFileSync} from 'node:child_process';
import {existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {tmpdir} from 'node:os';
import {join, resolve} from 'node:path';
import {pathToFileURL} from 'node:url';

import {embedded, fixture} from '../../report/web/fixture.mjs';

const option = (name) => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? null : process.argv[at + 1];
};
const corun = resolve(option('corun'));
const page_html = readFileSync(option('page'), 'utf8');
const shots = option('shots');
const chromium = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find(existsSync);
if (!chromium) {
  console.log('Chromium is not there: reports were not opened in a browser');
  process.exit(77);
}
const puppeteer = await import(pathToFileURL(createRequire(join(resolve(option('packages')), 'package.json')).resolve('puppeteer-core')));

const LIMITS = {first_paint_ms: 2000, frame_ms: 20, file_bytes: 20e6};
const folder = mkdtempSync(join(tmpdir(), 'corun-browser-'));
let failures = 0;
let checks = 0;

function check(what, right, found = '') {
  ++checks;
  if (!right) ++failures;
  console.log(`${right ? 'ok    ' : 'FAILED'} ${what}${found === '' ? '' : `: ${found}`}`);
}

// ---- the reports ----------------------------------------------------------------------------------

function made_up(name, options) {
  const path = join(folder, `${name}.html`);
  writeFileSync(path, page_html.replace('@DATA@', () => embedded(fixture(options))));
  return path;
}

// As corun validate writes them: two runs of three jobs.
function validated(name, hostile) {
  const errors = {mean_jct_error: 0.02, makespan_error: 0.01, job_error_median: 0.05, job_error_p90: 0.2, mean_jct_bias: -0.02};
  const spread = {real: 9000, simulated: 8800, low: 8500, high: 9200};
  const run = (given) => ({run: hostile, policy: 'max-min', given, ...errors, covered: 2 / 3, mean_jct_s: spread, makespan_s: spread,
    kinds: [{kind: hostile, jobs: 3, bias: 0.01}], jobs: [[3600, 3500, 3400, 3700], [7200, 7900, 7000, 8000], [18000, 15000, 16000, 17000]]});
  const data = {format: 1, kind: 'validation', source: {file: hostile, workload: hostile, corun: '1', commit: 'c', seed: '1', replications: 1},
    validation: {fit: [hostile], draws: 100, seed: 1, tau: 1, tau_interval: [0.5, 1], tau_given: 'policy', inverted: [], hints: [hostile], parameters: {round_s: 120},
      runs: [run('policy'), run('allocation')], authors: [{run: hostile, ...errors}], enough: [{run: hostile, part: 'nothing', ...errors}]}};
  const path = join(folder, `${name}.html`);
  writeFileSync(path, page_html.replace('@DATA@', () => embedded(data)));
  return path;
}

function of_program(name, config, command) {
  const file = join(folder, `${name}.yaml`);
  writeFileSync(file, config);
  execFileSync(corun, [command, file, '--quiet', '--output', join(folder, `${name}.h5`)], {stdio: ['ignore', 'ignore', 'inherit']});
  execFileSync(corun, ['report', join(folder, `${name}.h5`), '--quiet']);
  return join(folder, `${name}.html`);
}

const reports = {
  queue: of_program('queue', 'replications: 25\npolicies: [fcfs, balance, exclusive, oracle]\n', 'replay'),
  tied: of_program('tied', 'replications: 50\npolicies: [max-packing, kube-default, fcfs]\n', 'replay'),
  sweep: of_program('sweep', 'replications: 3\npolicies: [fcfs, random]\nsweep: {grid: {cluster.nodes: [1, 2, 3]}}\n', 'sweep'),
  worlds: of_program('worlds', 'replications: 3\npolicies: [fcfs, min-slowdown]\nsweep: {grid: {world.model: [measured, contention, cluster-mean]}}\n', 'sweep'),
  preempted: of_program('preempted', 'replications: 3\nworkload: {source: jrs-resampled, jobs: 60, load: 1.2}\npolicies: [fifo, srtf]\npreemption: {save_s: 5}\n', 'replay'),
  hostile: made_up('hostile', {hostile: true, owners: true}),
  live: made_up('live', {live: true, jobs: 40}),
  validation: validated('validation', '</script><img src=x onerror=alert(3)>'),
  many: made_up('many', {policies: 25, jobs: 60, owners: true}),
  large: made_up('large', {jobs: 100000, gpus: 128, policies: 1}),
};

const browser = await puppeteer.default.launch({executablePath: chromium, headless: true, args: ['--no-sandbox', '--disable-gpu']});

// A page of a report; `wrong` gathers what must not happen in it.
async function open(path, {width = 1440, scheme = 'light'} = {}) {
  const page = await browser.newPage();
  const wrong = [];
  const own = pathToFileURL(path).href;
  page.on('console', (message) => {
    // picture() below reads the canvas, which the page does not.
    if (!message.text().includes('willReadFrequently')) wrong.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => wrong.push(`error: ${error.message}`));
  page.on('dialog', (dialog) => {
    wrong.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on('request', (request) => {
    if (request.url().split('#')[0] !== own && !request.url().startsWith('data:')) wrong.push(`request: ${request.url()}`);
  });
  await page.emulateMediaFeatures([{name: 'prefers-color-scheme', value: scheme}]);
  await page.setViewport({width, height: 900});
  await page.goto(own, {waitUntil: 'load'});
  return {page, wrong};
}

const pause = (ms) => new Promise((done) => setTimeout(done, ms));

// Charts are drawn as they come in sight.
async function scroll(page) {
  await page.evaluate(async () => {
    for (let y = 0; y < document.body.scrollHeight; y += 600) {
      scrollTo(0, y);
      await new Promise((done) => setTimeout(done, 30));
    }
    scrollTo(0, 0);
  });
  await pause(150);
}

// A number that tells whether the picture of a canvas changed.
const picture = (page, selector) => page.$eval(selector, (canvas) => {
  const {data} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  let sum = 0;
  for (let i = 0; i < data.length; i += 5) sum = (sum * 31 + data[i]) >>> 0;
  return sum;
});

// ---- what a reader does ---------------------------------------------------------------------------

async function reads() {
  const {page, wrong} = await open(reports.queue);
  await scroll(page);
  const sections = await page.$$eval('section', (list) => list.map((section) => section.id));
  check('a replay has its sections', ['answer', 'policies', 'timeline', 'time', 'distributions', 'groups', 'sharing', 'origin']
    .every((id) => sections.includes(id)), sections.join(' '));
  check('the answer names a policy', /fcfs|balance|exclusive/.test(await page.$eval('.said', (node) => node.textContent)));
  const blank = await page.$$eval('.chart', (list) => list.filter((node) => !node.querySelector('canvas')).length);
  check('every chart is drawn', blank === 0, `${blank} blank`);
  check('coverage is in sight at the end of the page', await page.evaluate(() => {
    scrollTo(0, document.body.scrollHeight);
    const box = document.getElementById('always').getBoundingClientRect();
    const seen = box.top >= 0 && box.bottom <= innerHeight && document.getElementById('always').textContent.includes('measured');
    scrollTo(0, 0);
    return seen;
  }));

  const before = await page.$eval('table.policies', (node) => node.textContent);
  await page.select('#policies select', '1');
  const after = await page.$eval('table.policies', (node) => node.textContent);
  check('another baseline gives other differences', before !== after);

  const groups = () => page.$$eval('#groups table', (list) => list.map((node) => node.textContent).join('|'));
  const byGang = await groups();
  check('completion times by group and the worst tenth have tables', /1 GPU|to .* (s|min|h)/.test(byGang) && byGang.includes('×') && byGang.includes('worst tenth'));
  await page.select('#groups label:last-child select', '2');
  check('another baseline gives other ratios', byGang !== await groups());

  const canvas = await page.$('#timeline .timeline canvas');
  await canvas.scrollIntoView();
  const box = await canvas.boundingBox();
  const whole = await picture(page, '#timeline .timeline canvas');
  await page.mouse.move(box.x + 90, box.y + 60);
  await pause(200);
  const tip = await page.$eval('#timeline .tip', (node) => (node.hidden ? '' : node.textContent));
  check('a bar tells its job', /GPU/.test(tip) && /ISD|run/.test(tip), tip.slice(0, 60));
  await page.click('#timeline button[aria-label="Zoom in"]');
  await pause(100);
  const zoomed = await picture(page, '#timeline .timeline canvas');
  check('zoom changes the picture', whole !== zoomed);
  await page.mouse.move(box.x + 600, box.y + 60);
  await page.mouse.down();
  await page.mouse.move(box.x + 400, box.y + 60, {steps: 4});
  await page.mouse.up();
  await pause(100);
  check('dragging moves it', zoomed !== await picture(page, '#timeline .timeline canvas'));
  await page.click('#timeline button[aria-label="Show all"]');
  await page.mouse.move(5, 5);
  await pause(100);
  check('"All" shows all again', whole === await picture(page, '#timeline .timeline canvas'));
  const [job, gpu] = await page.$$('#timeline input[type=search]');
  await job.type(await page.evaluate(() => JSON.parse(document.getElementById('data').textContent).timeline.names[3]));
  await pause(100);
  const filtered = await page.$eval('#timeline [aria-live]', (node) => node.textContent);
  check('a filter by job counts its bars', /^24 bars on 4 GPUs\. [1-9] bars? match/.test(filtered), filtered);
  await gpu.type('0-1');
  await pause(100);
  check('a filter by GPU leaves these', /on 2 GPUs/.test(await page.$eval('#timeline [aria-live]', (node) => node.textContent)));
  await page.select('#timeline select', '2');
  await pause(100);
  check('another policy has bars', /\d+ bars?/.test(await page.$eval('#timeline [aria-live]', (node) => node.textContent)));

  const chart = await page.$('#cdf-jct_s .chart');
  await chart.scrollIntoView();
  await pause(200);
  const chartBox = await chart.boundingBox();
  const plain = await picture(page, '#cdf-jct_s canvas');
  await page.mouse.move(chartBox.x + chartBox.width / 2, chartBox.y + chartBox.height / 2);
  await pause(400);
  check('a chart tells its values', plain !== await picture(page, '#cdf-jct_s canvas'));

  const light = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await page.click('#theme');
  await pause(200);
  const dark = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  check('the theme switches', light !== dark, `${light} to ${dark}`);
  if (shots) writeFileSync(join(shots, 'queue.pdf'), await page.pdf({format: 'A4', printBackground: true}));
  const pdf = Buffer.from(await page.pdf({format: 'A4'}));
  check('it prints', pdf.length > 50000, `${pdf.length} bytes`);
  check('nothing goes wrong, and nothing is loaded', wrong.length === 0, wrong.join('; '));
  await page.close();
}

// What a reader of the report alone must be told, and must not have to guess.
async function explains() {
  const {page, wrong} = await open(reports.queue);
  await scroll(page);
  const catalogue = execFileSync(corun, ['list', 'policies'], {encoding: 'utf8'}).split('\n');
  const sentences = await page.$$eval('#explained dd', (list) => list.map((node) => node.textContent.replaceAll('\u00a0', ' ')));
  const told = sentences.filter((text) => catalogue.some((line) => line.toLowerCase().includes(text.slice(0, -1).toLowerCase())));
  check('each policy has the sentence of the catalogue', sentences.length === 4 && told.length === 4, sentences.join(' | '));
  const text = await page.evaluate(() => document.body.innerText);
  check('the title names the workload, the line below it the seeds', await page.$eval('h1', (node) => node.textContent) === 'Replay of jrs-queue' &&
    (await page.$eval('.facts', (node) => node.textContent)).includes('seeds 1 to 25'));
  check('profiles that are imputed are in sight', /\d+ of \d+ profiles imputed/.test(await page.$eval('#always .coverage', (node) => node.innerText)));
  check('warnings are open to read', await page.$$eval('#warned li', (list) => list.length > 0 && list.every((node) => node.getClientRects().length > 0)));
  check('the row of the oracle is explained', (await page.$eval('#bounds', (node) => node.textContent)).startsWith('oracle: not a policy that a cluster can run'));
  check('sharing says of which replications it is', /first 20 of 25\sreplications/.test(await page.$eval('#sharing .lead', (node) => node.textContent)));
  check('policies that expect nothing are named', /fcfs and exclusive/.test(await page.$eval('#calibration figcaption', (node) => node.textContent)));
  check('better and worse are no arrows', !/[▲▼]/.test(text) && /✓|✗/.test(text));
  const parted = await page.evaluate(() => [...document.querySelectorAll('main p, main td, main th, main li, main span, main h3, #always span')]
    .filter((node) => /\d %/.test(node.textContent)).length);
  check('a number and its % stay together', parted === 0, `${parted} may part`);
  const cut = await page.$$eval('#timeline input', (list) => list.filter((input) => {
    const c = document.createElement('canvas').getContext('2d');
    c.font = getComputedStyle(input).font;
    return c.measureText(input.placeholder).width > input.clientWidth - 40;
  }).map((input) => input.placeholder));
  check('no hint of a field is cut', cut.length === 0, cut.join('; '));
  const clipped = await page.$$eval('.scroll', (list) => list.filter((node) => node.clientWidth > 0 && node.scrollWidth > node.clientWidth + 1).length);
  check('no table is cut at 1440 pixels', clipped === 0, `${clipped} cut`);
  const again = join(folder, 'again.html');
  execFileSync(corun, ['report', join(folder, 'queue.h5'), '--quiet', '--output', again]);
  check('the same results give the same bytes', readFileSync(again).equals(readFileSync(reports.queue)));
  check('nothing goes wrong while reading', wrong.length === 0, wrong.join('; '));
  await page.close();
}

// Legends and looks of 25 policies.
async function tells_policies_apart() {
  for (const width of [1440, 390]) {
    const {page, wrong} = await open(reports.many, {width});
    await scroll(page);
    for (const id of ['time-queue', 'cdf-jct_s', 'isd-ps']) {
      const keys = await page.$$eval(`#${id} .keys button`, (list) => list.map((node) => {
        const [box, all] = [node.getBoundingClientRect(), node.closest('figure').getBoundingClientRect()];
        return box.width > 0 && box.left >= all.left && box.right <= all.right;
      }));
      check(`the legend of ${id} is whole at ${width} pixels`, keys.length === 25 && keys.every(Boolean), `${keys.filter(Boolean).length} of 25`);
    }
    check(`nothing goes wrong with 25 policies at ${width} pixels`, wrong.length === 0, wrong.join('; '));
    await page.close();
  }
  const {page} = await open(reports.many);
  const looks = await page.$$eval('#cdf-jct_s .keys svg', (list) => new Set(list.map((node) => node.outerHTML)).size);
  check('25 policies look different', looks === 25, `${looks} looks`);
  for (const scheme of ['light', 'dark']) {
    await page.emulateMediaFeatures([{name: 'prefers-color-scheme', value: scheme}]);
    const colours = await page.$$eval('#policies th svg path', (list) => new Set(list.slice(0, 9).map((node) => getComputedStyle(node).fill)).size);
    check(`nine policies have nine colours, ${scheme}`, colours === 9, `${colours}`);
  }
  await page.close();
}

const uneven = ({min, max, interval}) => [min, max].some((x) => !(Math.abs(x / interval - Math.round(x / interval)) < 1e-6));

// Figures: their legends, axes, and one meaning of a colour in both themes and on paper.
async function draws() {
  const {page, wrong} = await open(reports.queue);
  await scroll(page);
  const settled = async () => {
    await page.mouse.move(5, 5);
    await pause(100);
    return picture(page, '#cdf-jct_s canvas');
  };
  const whole = await settled();
  await page.click('#cdf-jct_s .keys button');
  const hidden = await settled();
  check('a press on a legend hides a policy', whole !== hidden &&
    await page.$eval('#cdf-jct_s .keys button', (node) => node.getAttribute('aria-pressed')) === 'false');
  await page.click('#cdf-jct_s .keys button');
  check('another shows it again', whole === await settled());
  for (const [id, axes] of [['calibration', ['xAxis', 'yAxis']], ['time-queue', ['xAxis']], ['intervals', ['xAxis']]]) {
    const found = await page.$eval(`#${id}`, (node, names) => names.map((name) => {
      const {min, max, interval} = node.chart().getOption()[name][0];
      return {min, max, interval};
    }), axes);
    check(`the axis of ${id} ends at round numbers`, found.every((axis) => !uneven(axis)), JSON.stringify(found));
  }
  check('the axis of the means says that it does not begin at zero', /does not begin at zero/.test(await page.$eval('#intervals .note', (node) => node.textContent)));
  await page.click('#intervals .tick input');
  check('and begins there on demand', await page.$eval('#intervals', (node) => node.chart().getOption().xAxis[0].min) === 0);
  const labels = await page.$eval('#isd-ps', (node) => node.chart().getOption().series.filter((one) => one.label?.show).length);
  check('slowdown against saving has no labels that collide', labels === 0, `${labels}`);

  const heat = () => page.$eval('#heat', (node) => {
    const {visualMap, series} = node.chart().getOption();
    return {ramp: visualMap[0].inRange.color.join(), off: series[1]?.data.length ?? 0};
  });
  const light = await heat();
  await page.click('#theme');
  await pause(100);
  const dark = await heat();
  check('a colour of the heat map means the same in both themes', light.ramp === dark.ramp);
  check('pairs that never shared are marked, not coloured', light.off >= 24 && dark.off === light.off, `${light.off} cells`);
  // On paper all is drawn at once: no frame comes between the request to print and the picture.
  const painted = await page.evaluate(() => {
    dispatchEvent(new Event('beforeprint'));
    const canvas = document.querySelector('#heat canvas:last-of-type');
    const layers = document.querySelectorAll('#heat canvas').length;
    const {data} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    let coloured = 0;
    for (let i = 0; i < data.length; i += 4) if (data[i + 3] && Math.abs(data[i] - data[i + 2]) > 40) ++coloured;
    dispatchEvent(new Event('afterprint'));
    return layers === 1 ? coloured / (canvas.width * canvas.height) : 0;
  });
  check('the heat map is whole on paper', painted > 0.1, `${(100 * painted).toFixed(0)} % coloured`);
  check('nothing goes wrong while drawing', wrong.length === 0, wrong.join('; '));
  await page.close();
}

async function shows_worlds_and_preemptions() {
  const {page, wrong} = await open(reports.worlds);
  const heads = await page.$$eval('#worlds th', (list) => list.map((node) => node.textContent));
  check('a sweep over worlds has the means in each', heads.some((text) => text.includes('world.model = contention')), heads.slice(0, 5).join(' | '));
  check('it says whether the best policy stays the best', /best mean in all of them|not the same in all/.test(await page.$eval('#worlds', (node) => node.textContent)));
  check('nothing goes wrong with worlds', wrong.length === 0, wrong.join('; '));
  await page.close();
  const other = await open(reports.preempted);
  const rows = await other.page.$$eval('#preemptions tbody tr', (list) => list.map((node) => [...node.children].map((cell) => cell.textContent)));
  check('preemptions have their number and cost', rows.length === 2 && rows[0][1] === '0' && Number(rows[1][1]) > 0 && /GPU/.test(rows[1][4]), rows.join(' | '));
  check('nothing goes wrong with preemptions', other.wrong.length === 0, other.wrong.join('; '));
  await other.page.close();
}

async function shows_a_live_run() {
  const {page, wrong} = await open(reports.live);
  await scroll(page);
  const text = await page.evaluate(() => document.body.innerText);
  check('a live run says on which GPU', (await page.$eval('#always', (node) => node.textContent)).includes('Measured on a made-up GPU'));
  check('it does not promise to repeat the measurement', text.includes('repeats the prediction, not the measurement') && !text.includes('repeats the run'));
  check('it has no interval and says so', !/95\s%\sinterval/.test(text) && text.includes('no interval'));
  check('predicted beside measured has a legend', await page.$$eval('#live-jobs .keys button', (list) => list.length) === 9);
  check('nothing goes wrong in a live run', wrong.length === 0, wrong.join('; '));
  await page.close();
}

async function shows_a_validation() {
  const {page, wrong} = await open(reports.validation);
  await scroll(page);
  const sections = await page.$$eval('section', (list) => list.map((section) => section.id));
  check('a validation has its sections', ['errors', 'jobs', 'enough', 'origin'].every((id) => sections.includes(id)), sections.join(' '));
  const cells = await page.$$eval('#errors tbody tr', (list) => list.map((row) => row.textContent));
  check('a validation has a row per run, one of its authors and the means', cells.length === 3 + 4, String(cells.length));
  check('a validation draws its jobs', await page.$eval('#calibration', (node) => node.chart().getOption().series.some((one) => one.name === 'jobs' && one.data.length === 3)));
  check('nothing goes wrong in a validation', wrong.length === 0, wrong.join('; '));
  await page.close();
}

// Elements that reach beyond the page, but for those that scroll in a box of their own: [name].
const beyond = (page) => page.evaluate(() => [...document.querySelectorAll('body *')].filter((node) => {
  const box = node.getBoundingClientRect();
  return box.width > 0 && box.right > document.documentElement.clientWidth + 1 && !node.closest('.scroll, pre, .skip, svg');
}).map((node) => `${node.tagName}.${node.className}`).slice(0, 5));

async function fits() {
  for (const [name, path] of Object.entries(reports)) {
    for (const width of [1440, 390]) {
      for (const scheme of ['light', 'dark']) {
        const {page, wrong} = await open(path, {width, scheme});
        await scroll(page);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth);
        const out = await beyond(page);
        check(`${name} fits ${width} pixels, ${scheme}`, wide <= width && wrong.length + out.length === 0, [wide, ...out, ...wrong].join('; '));
        const cut = await page.$$eval('.stacked', (tables) => tables.filter((table) => table.scrollWidth > table.parentNode.clientWidth + 1).length);
        check(`answers of ${name} need no scrolling at ${width} pixels, ${scheme}`, cut === 0, `${cut} do`);
        if (name === 'queue') {
          const hidden = await page.$$eval('#sharing select, #timeline select', (list) => list.flatMap((select) => {
            const c = document.createElement('canvas').getContext('2d');
            c.font = getComputedStyle(select).font;
            return [...select.options].filter((one) => c.measureText(one.text).width > select.clientWidth - 36).map((one) => one.text);
          }));
          check(`no choice is cut at ${width} pixels, ${scheme}`, hidden.length === 0, hidden.join('; '));
        }
        if (shots) await page.screenshot({path: join(shots, `${name}-${width}-${scheme}.png`), fullPage: true});
        await page.close();
      }
    }
  }
}

async function withstands() {
  const {page, wrong} = await open(reports.hostile);
  await scroll(page);
  const found = await page.evaluate(() => ({
    scripts: document.scripts.length, images: document.images.length,
    foreign: [...document.querySelectorAll('*')].filter((node) => [...node.attributes].some((a) => /^on/i.test(a.name))).length,
    text: document.body.innerText,
  }));
  check('hostile names make no element', found.scripts === 2 && found.images === 0 && found.foreign === 0,
    `${found.scripts} scripts, ${found.images} images, ${found.foreign} handlers`);
  check('they are shown as text', found.text.includes('<script>alert(1)</script>'));
  // eslint-disable-next-line no-control-regex
  check('no control or direction character is shown', !/[\u0000-\u0008\u000b-\u001f\u007f\u202a-\u202e\u2066-\u2069]/.test(found.text));
  // A text as a timer's handler is evaluated later, when the browser's debugger no longer allows what the page may not.
  const refused = await page.evaluate(async () => {
    const script = document.createElement('script');
    script.textContent = 'window.ran = 1';
    document.body.append(script);
    setTimeout('window.evaluated = 1', 0);
    await new Promise((done) => setTimeout(done, 100));
    return window.ran === undefined && window.evaluated === undefined;
  });
  check('the policy refuses other scripts and eval', refused);
  const other = wrong.filter((text) => !/Content Security Policy|unsafe-eval/i.test(text));
  check('nothing else goes wrong', other.length === 0, other.join('; '));
  await page.close();
}

async function is_quick() {
  const {page, wrong} = await open(reports.large);
  await pause(300);
  const times = await page.evaluate(() => ({
    paint: performance.getEntriesByName('first-contentful-paint')[0]?.startTime,
    drawn: performance.getEntriesByName('timeline-drawn')[0]?.startTime,
  }));
  const bytes = statSync(reports.large).size;
  check('100,000 bars: file below 20 MB', bytes < LIMITS.file_bytes, `${(bytes / 1e6).toFixed(1)} MB`);
  check('first paint below 2 s', times.paint < LIMITS.first_paint_ms, `${Math.round(times.paint)} ms`);
  check('timeline drawn below 2 s', times.drawn < LIMITS.first_paint_ms, `${Math.round(times.drawn)} ms`);
  const canvas = await page.$('#timeline .timeline canvas');
  await canvas.scrollIntoView();
  for (const [what, zooms] of [['all bars in sight', 0], ['a hundredth in sight', 10]]) {
    for (let i = 0; i < zooms; ++i) await page.click('#timeline button[aria-label="Zoom in"]');
    if (zooms === 0) await page.click('#timeline button[aria-label="Zoom in"]');
    // Moves by pointer events; a frame is from one to the next animation frame, so it includes all work between.
    const frames = await page.evaluate(async () => {
      const node = document.querySelector('#timeline .timeline canvas');
      const rect = node.getBoundingClientRect();
      const send = (type, x) => node.dispatchEvent(new PointerEvent(type, {pointerId: 1, bubbles: true, clientX: rect.left + x,
        clientY: rect.top + 100, buttons: 1, pointerType: 'mouse'}));
      send('pointerdown', 900);
      const gaps = [];
      let last = await new Promise(requestAnimationFrame);
      for (let i = 0; i < 120; ++i) {
        send('pointermove', 900 - 3 * Math.min(i, 119 - i));
        const now = await new Promise(requestAnimationFrame);
        gaps.push(now - last);
        last = now;
      }
      send('pointerup', 900);
      return gaps.sort((a, b) => a - b);
    });
    check(`median frame while moving, ${what}, below 20 ms`, frames[60] < LIMITS.frame_ms,
      `${frames[60].toFixed(1)} ms; 95th percentile ${frames[113].toFixed(1)} ms`);
  }
  check('nothing goes wrong with 100,000 bars', wrong.length === 0, wrong.join('; '));
  await page.close();
}

async function names_all_that_lead() {
  const {page} = await open(reports.tied);
  const said = await page.$eval('.said', (node) => node.textContent);
  check('the answer names both policies that lead in as many metrics', /kube-default/.test(said) && /max-packing/.test(said) &&
    /is so in as many/.test(said), said);
  await page.close();
}

async function answers_a_sweep() {
  const {page, wrong} = await open(reports.sweep);
  await scroll(page);
  const sections = await page.$$eval('section', (list) => list.map((section) => section.id));
  check('a sweep has its sections', ['answer', 'best', 'effects', 'pareto', 'origin'].every((id) => sections.includes(id)), sections.join(' '));
  const text = await page.evaluate(() => document.body.innerText);
  check('a sweep explains its policies', await page.$$eval('#explained dd', (list) => list.length) === 2);
  check('it names the seeds of a point', text.includes('seeds 1 to 3') && !/\b9\sreplications/.test(text));
  check('it does not claim that there were no notes', !text.includes('No warnings') && text.includes('has no notes'));
  check('nothing goes wrong in a sweep', wrong.length === 0, wrong.join('; '));
  await page.close();
}

try {
  if (shots) mkdirSync(shots, {recursive: true});
  await reads();
  await explains();
  await tells_policies_apart();
  await draws();
  await names_all_that_lead();
  await answers_a_sweep();
  await shows_a_live_run();
  await shows_a_validation();
  await withstands();
  await is_quick();
  await shows_worlds_and_preemptions();
  await fits();
} finally {
  await browser.close();
  rmSync(folder, {recursive: true});
}
console.log(`${checks - failures} passed, ${failures} failed`);
process.exitCode = failures ? 1 : 0;
