// Figures by Apache ECharts. Tooltips are drawn on the canvas (renderMode richText), so no name becomes HTML.
import {BoxplotChart, CustomChart, LineChart, ScatterChart} from 'echarts/charts';
import {
  DataZoomInsideComponent, GridComponent, TooltipComponent, VisualMapContinuousComponent,
} from 'echarts/components';
import * as echarts from 'echarts/core';
import {CanvasRenderer} from 'echarts/renderers';
import {legendOf} from './keys.js';
import {el, plain, shown} from './text.js';
import {colour, current, dash, onTheme, symbol} from './theme.js';

echarts.use([
  BoxplotChart, CustomChart, LineChart, ScatterChart, DataZoomInsideComponent, GridComponent,
  TooltipComponent, VisualMapContinuousComponent, CanvasRenderer,
]);

const charts = new Set();
const PRINT_WIDTH = 680;

const near = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    if (entry.isIntersecting) entry.target.chart.draw();
  }
}, {rootMargin: '300px'});

const sizes = new ResizeObserver((entries) => {
  for (const entry of entries) entry.target.chart.fit();
});

onTheme(() => charts.forEach((chart) => chart.update()));

// Draws what has not been in sight, at the width of a page.
export function prepareCharts(printing) {
  for (const chart of charts) {
    chart.draw();
    chart.fit(printing ? PRINT_WIDTH : undefined);
  }
}

// Round ends and steps for an axis of numbers from `least` to `most`: {min, max, interval}.
export function ends(least, most, parts = 5) {
  const whole = most > least ? most - least : Math.abs(most) || 1;
  const rough = whole / parts;
  const ten = 10 ** Math.floor(Math.log10(rough));
  const interval = ten * [1, 2, 2.5, 5, 10].find((x) => x * ten >= rough * (1 - 1e-9));
  const round = (x) => Number((x * interval).toPrecision(12));
  return {min: round(Math.floor(least / interval + 1e-9)), max: round(Math.ceil((most > least ? most : least + whole) / interval - 1e-9)), interval};
}

export function axis(name, more = {}) {
  const t = current();
  const numbers = more.type === 'category' ? {} : {formatter: plain};
  return {
    name, nameLocation: 'middle', nameGap: 28, nameTextStyle: {color: t.muted, fontSize: 12},
    axisLine: {show: true, onZero: false, lineStyle: {color: t.line}}, axisTick: {lineStyle: {color: t.line}},
    axisLabel: {color: t.muted, fontSize: 11, hideOverlap: true, ...numbers}, splitLine: {lineStyle: {color: t.line, opacity: 0.6}},
    ...more,
  };
}

// The vertical axis: its name stands above it, where there is room on a narrow screen, too.
export function upright(name, more = {}) {
  return axis(name, {nameLocation: 'end', nameGap: 12, nameTextStyle: {color: current().muted, align: 'left', fontSize: 12,
    padding: [0, 0, 0, -34]}, ...more});
}

export const tooltip = (more = {}) => {
  const t = current();
  return {
    renderMode: 'richText', confine: true, backgroundColor: t.panel, borderColor: t.line, borderWidth: 1,
    textStyle: {color: t.text, fontSize: 12}, ...more,
  };
};

// The line where both axes have the same value, for axes from `min` to `max`.
export function diagonal({min, max}) {
  return {type: 'line', data: [[min, min], [max, max]], silent: true, showSymbol: false, z: 1, tooltip: {show: false},
    lineStyle: {color: current().muted, type: 'dashed', width: 1}};
}

// A series' look, the same for a policy in every figure.
export function look(i) {
  return {
    itemStyle: {color: colour(i)}, lineStyle: {color: colour(i), type: dash(i), width: 2}, symbol: symbol(i),
  };
}

// Different names for series, also where two labels look the same after shown().
export function seriesNames(labels) {
  const seen = new Map();
  return labels.map((label) => {
    const name = shown(label, 28);
    const times = seen.get(name) ?? 0;
    seen.set(name, times + 1);
    return times === 0 ? name : `${name} (${times + 1})`;
  });
}

// A figure with title, caption, controls and the same numbers as a table.
//   option()  the options of ECharts for the present theme and controls; null: nothing to draw
//   table()   {head: [text], rows: [[text]]}
//   height    [px], or a function of the width
//   keys      of the legend above it: [{name, i}], names of series with numbers of policies; lines: they are lines
//   said()    a line below it about what is drawn now; null: none
// Returns the node; node.refresh() draws again after a control changed; node.hiddenNames: what a reader hid.
export function figure({id, title, caption, controls = [], option, table, height = 320, wide = false, keys = [], lines = false, said}) {
  const canvas = el('div', {class: 'chart', role: 'img', 'aria-label': `${title}. ${caption} The table below has the numbers.`});
  const body = el('div', {class: 'scroll'});
  const details = el('details', {class: 'numbers', ontoggle: () => details.open && fill()},
    el('summary', {}, 'Numbers as a table'), body);
  const legend = legendOf(keys, lines, () => node.refresh(), (name) => chart?.dispatchAction(
    name === null ? {type: 'downplay'} : {type: 'highlight', seriesName: name}));
  const note = el('p', {class: 'small note'});
  const node = el('figure', {id, class: wide ? 'wide' : null},
    el('figcaption', {}, el('h3', {}, title), el('p', {}, caption)),
    controls.length ? el('div', {class: 'controls'}, controls) : null, keys.length > 1 ? legend.node : null, canvas,
    said ? note : null, table ? details : null);
  node.hiddenNames = legend.hidden;
  let chart = null;
  let width = 0;

  function fill() {
    const {head, rows} = table();
    body.replaceChildren(plainTable(head, rows));
  }
  const handle = {
    draw() {
      if (chart) return;
      chart = echarts.init(canvas, null, {renderer: 'canvas', height: tall(canvas.clientWidth)});
      near.unobserve(canvas);
      sizes.observe(canvas);
      handle.update();
    },
    update() {
      if (!chart) return;
      const options = option(width || canvas.clientWidth);
      if (said) note.replaceChildren(said() ?? '');
      if (!options) {
        chart.clear();
        return;
      }
      // Whole at once, for on paper no later frame would draw the rest; the order stays when some are hidden.
      const series = options.series.filter((one) => !legend.hidden.has(one.name)).map((one, i) => ({z: 2 + i / 1000, ...one, progressive: 0}));
      chart.setOption({animation: false, backgroundColor: 'transparent', ...options, series}, true);
    },
    fit(fixed) {
      if (!chart || canvas.clientWidth === 0) return;
      const next = fixed ?? canvas.clientWidth;
      if (next === width) return;
      width = next;
      chart.resize({width: next, height: tall(next)});
      handle.update();
    },
  };
  const tall = (at) => {
    const value = typeof height === 'function' ? height(at) : height;
    canvas.style.height = `${value}px`;
    return value;
  };
  canvas.chart = handle;
  charts.add(handle);
  tall(1200);
  near.observe(canvas);
  node.refresh = () => {
    if (typeof height === 'function' && chart) chart.resize({height: tall(canvas.clientWidth)});
    handle.update();
    if (details.open) fill();
  };
  node.chart = () => chart;
  return node;
}

export function plainTable(head, rows, attributes = {}) {
  return el('table', attributes,
    el('thead', {}, el('tr', {}, head.map((text) => el('th', {scope: 'col'}, text)))),
    el('tbody', {}, rows.map((row) => el('tr', {}, row.map((text, i) =>
      i === 0 ? el('th', {scope: 'row'}, el('bdi', {}, text)) : el('td', {'data-label': head[i]}, text))))));
}

// A labelled choice. `options`: [[value, text]].
export function choice(label, options, value, changed) {
  const select = el('select', {onchange: () => changed(select.value)},
    options.map(([key, text]) => el('option', {value: key, selected: String(key) === String(value)}, text)));
  return el('label', {}, el('span', {}, label), select);
}

export function tick(label, checked, changed) {
  const box = el('input', {type: 'checkbox', checked, onchange: () => changed(box.checked)});
  return el('label', {class: 'tick'}, box, el('span', {}, label));
}
