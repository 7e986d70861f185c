// Makes the page of `corun report`: one HTML file with its script and style inside, and a mark where the program
// puts the data.
//
//   node build.mjs --packages DIR --out page.html [--cpp page.cpp]
//
// DIR holds node_modules with esbuild and echarts, as `npm ci` makes it from package-lock.json. --cpp: also the page as
// a C++ source file (report_page.hpp declares its function). The same sources give the same bytes.

import {createHash} from 'node:crypto';
import {mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {dirname, join, resolve} from 'node:path';
import {fileURLToPath} from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));

function option(name, fallback) {
  const at = process.argv.indexOf(`--${name}`);
  if (at < 0) return fallback;
  if (at + 1 >= process.argv.length) throw new Error(`--${name}: expected a value`);
  return process.argv[at + 1];
}

const packages = resolve(option('packages', here));
const esbuild = createRequire(join(packages, 'package.json'))('esbuild');

const shared = {
  bundle: true, minify: true, write: false, charset: 'utf8', legalComments: 'none', logLevel: 'warning',
  target: ['chrome100', 'firefox100', 'safari15'],
};
const script = esbuild.buildSync({
  ...shared, entryPoints: [join(here, 'src/main.js')], format: 'iife',
  nodePaths: [join(packages, 'node_modules')], define: {'process.env.NODE_ENV': '"production"'},
}).outputFiles[0].text.trim();
const style = esbuild.buildSync({...shared, entryPoints: [join(here, 'src/page.css')]}).outputFiles[0].text.trim();

// The licences of what is in the script, as they ask for.
const notices = ['echarts/NOTICE', 'zrender/LICENSE'].map((name) => readFileSync(join(packages, 'node_modules', name), 'utf8').trim());
const licences = `/*! Apache ECharts is under the Apache License 2.0 (apache.org/licenses/LICENSE-2.0), ZRender under BSD-3-Clause, tslib
under 0BSD, the rest under the Apache License 2.0, copyright the corun authors.

${notices.join('\n\n').replaceAll('*/', '* /')}
*/
`;
const whole = licences + script;

// What the Content-Security-Policy of the page would refuse, or what would end its script early.
for (const [found, what] of [[/\bnew Function\b/, 'new Function'], [/\beval\(/, 'eval'], [/<\/script/i, '</script']]) {
  if (found.test(whole)) throw new Error(`the script contains ${what}`);
}
if (/<\/style/i.test(style)) throw new Error('the style contains </style');

const hash = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
const policy = [
  "default-src 'none'", `script-src ${hash(whole)}`, `style-src ${hash(style)}`, 'img-src data:', "base-uri 'none'",
  "form-action 'none'",
].join('; ');

// The template's marks, each once. A function as replacement: `$` in the script is no pattern.
let page = readFileSync(join(here, 'src/page.html'), 'utf8');
for (const [mark, text] of [['@POLICY@', policy], ['@STYLE@', style], ['@SCRIPT@', whole]]) {
  if (page.split(mark).length !== 2) throw new Error(`page.html: expected ${mark} once`);
  page = page.replace(mark, () => text);
}
if (page.split('@DATA@').length !== 2) throw new Error('page.html: expected @DATA@ once, in no other part');

const out = resolve(option('out', join(here, 'page.html')));
mkdirSync(dirname(out), {recursive: true});
writeFileSync(out, page);

// As C++.
const cpp = option('cpp');
if (cpp) {
  // String literals of at most 16,000 bytes, which every compiler takes; raw ones, cut between characters.
  const pieces = [];
  const letters = Array.from(page);
  for (let at = 0; at < letters.length; at += 4000) {
    const piece = letters.slice(at, at + 4000).join('');
    if (piece.includes(')corun"')) throw new Error('the page contains )corun"');
    pieces.push(`R"corun(${piece})corun"`);
  }
  mkdirSync(dirname(resolve(cpp)), {recursive: true});
  writeFileSync(resolve(cpp), '#include "report/report_page.hpp"\n\n' +
    'namespace corun::inline report {\n\nstd::string_view report_page() {\n  // An array: a compiler need not count its letters.\n' +
    `  static constexpr char kPage[] =\n${pieces.join('\n')};\n  return {kPage, sizeof(kPage) - 1};\n}\n\n}  // namespace corun::inline report\n`);
}
