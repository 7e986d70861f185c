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

import {embedded, fixture} from '../../../experiments/report/web/fixture.mjs';

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

function of_program(name, config, command) {
  const file = join(folder, `${name}.yaml`);
  writeFileSync(file, config);
  execFileSync(corun, [command, file, '--quiet', '--output', join(folder, `${name}.h5`)], {stdio: ['ignore', 'ignore', 'inherit']});
  execFileSync(corun, ['report', join(folder, `${name}.h5`), '--quiet']);
  return join(folder, `${name}.html`);
}

const reports = {
  queue: of_program('queue', 'replications: 4\npolicies: [fcfs, balance, exclusive]\n', 'replay'),
  sweep: of_program('sweep', 'replications: 3\npolicies: [fcfs, random]\nsweep: {grid: {cluster.nodes: [1, 2, 3]}}\n', 'sweep'),
  hostile: made_up('hostile', {hostile: true}),
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
  check('a replay has its sections', ['answer', 'policies', 'timeline', 'time', 'distributions', 'sharing', 'origin']
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
  const [job, gpu] = await page.$$('#timeline input');
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

async function fits() {
  for (const [name, path] of Object.entries(reports)) {
    for (const width of [1440, 390]) {
      for (const scheme of ['light', 'dark']) {
        const {page, wrong} = await open(path, {width, scheme});
        await scroll(page);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth);
        check(`${name} fits ${width} pixels, ${scheme}`, wide <= width && wrong.length === 0, [wide, ...wrong].join('; '));
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

async function answers_a_sweep() {
  const {page, wrong} = await open(reports.sweep);
  await scroll(page);
  const sections = await page.$$eval('section', (list) => list.map((section) => section.id));
  check('a sweep has its sections', ['answer', 'best', 'effects', 'pareto', 'origin'].every((id) => sections.includes(id)), sections.join(' '));
  check('nothing goes wrong in a sweep', wrong.length === 0, wrong.join('; '));
  await page.close();
}

try {
  if (shots) mkdirSync(shots, {recursive: true});
  await reads();
  await answers_a_sweep();
  await withstands();
  await is_quick();
  await fits();
} finally {
  await browser.close();
  rmSync(folder, {recursive: true});
}
console.log(`${checks - failures} passed, ${failures} failed`);
process.exitCode = failures ? 1 : 0;
