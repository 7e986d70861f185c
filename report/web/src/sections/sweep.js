// A sweep. data.sweep is what `corun sweep --answers --format json` prints (docs/sweeps.md), with at most 20
// configurations a metric, and `cells`: [[point, policy, isd, ps]], `settings`: [[value of each key]] by row of
// `numbers`, the points' numbers.
import {axis, choice, figure, look, plainTable, seriesNames, tooltip, upright} from '../charts.js';
import {capital, count, el, listed, metricName, number, percent, scaleOf, shown} from '../text.js';
import {colour, current} from '../theme.js';
import {assumedSpeeds, warned} from './answer.js';
import {explained} from './policies.js';
import {ratio} from './groups.js';
import {section} from './section.js';

export function sweep(data) {
  const s = data.sweep;
  const names = seriesNames(s.policies);
  const metricOf = (name) => data.metrics.find((metric) => metric.name === name);
  const byLabel = new Map(s.policies.map((label, p) => [label, p]));
  const settingOf = (values) => Object.entries(values).map(([key, value]) => `${shown(key, 60)} = ${shown(value, 40) || '(as configured)'}`).join(', ');
  const bracket = (interval, factor) => (interval.lo === null || interval.lo === interval.hi ? ''
    : ` [${number(factor * interval.lo)}, ${number(factor * interval.hi)}]`);
  return [sweepAnswer(), described(), scenarios(), worlds(), bestConfigurations(), effects(), front(), differences()].filter(Boolean);

  function sweepAnswer() {
    const rows = s.best.map((b) => {
      const metric = metricOf(b.metric);
      const mine = b.means[b.policy];
      const {factor, unit} = scaleOf(metric, [mine?.mean]);
      const open = b.not_told_apart;
      return [`${capital(metricName(metric))} (${metric.better < 0 ? 'less' : 'more'} is better)`, el('b', {}, el('bdi', {}, shown(b.policy, 40))),
        mine ? `${number(factor * mine.mean)}${bracket(mine, factor)} ${unit}` : '–',
        open.length ? `not significantly different from ${listed(open.map((label) => shown(label, 30)))}` : 'the interval of the difference to every other policy excludes zero'];
    });
    const strongest = s.best.map((b) => {
      const mine = s.effects.filter((e) => e.metric === b.metric && e.policy === null);
      const found = mine.sort((x, y) => (y.share ?? 0) - (x.share ?? 0))[0];
      return found && found.share > 0 ? `${capital(metricName(metricOf(b.metric)))}: ${shown(found.factor, 60)} explains ${percent(found.share)} of the variation.` : null;
    }).filter(Boolean);
    return section('answer', 'Answer', 'What this sweep says',
      `${count(s.points, 'point')} (settings of ${listed(s.keys.map((key) => shown(key, 60)))}), ${count(s.policies.length, 'policy').replace('policys', 'policies')}, ${count(s.replications, 'replication')} of each.`,
      el('div', {class: 'scroll'}, plainTable(['Metric', 'Best policy, mean over all points', 'Value', 'How sure'], rows, {class: 'answers stacked'})),
      el('h3', {}, 'What matters most'), el('ul', {class: 'gaps'}, strongest.map((text) => el('li', {}, text))),
      s.left_out.length ? el('p', {class: 'small'}, `Left out: ${listed(s.left_out.map((text) => shown(text, 60)))}.`) : null,
      el('h3', {}, 'What was not measured'), el('ul', {class: 'gaps'}, gaps().map((text) => el('li', {}, text))), warned(data));
  }

  function described() {
    const known = s.policies.map((label) => data.policies.find((policy) => policy.label === label) ?? {label, name: label, description: ''});
    const block = explained(known, names);
    return block ? section('policies', 'Policies', 'The policies', null, block) : null;
  }


  function gaps() {
    const c = data.coverage;
    const lines = [];
    if (c && c.measured + c.modelled + c.extrapolated > 0) {
      lines.push(`Of the time that jobs shared a GPU, ${percent(c.measured)} has a measured cost, ${percent(c.modelled)} one of an interference model, ${percent(c.extrapolated)} an extrapolated one.`);
    }
    lines.push(...assumedSpeeds(data));
    if (!s.complete) lines.push('The sweep is not complete: points that lack replications are missing.');
    if (s.replications < 3) lines.push('Fewer than three replications give no interval and no test.');
    lines.push('All of this is a simulation. The best of many points looks better than it is: confirm it with other seeds.');
    return lines;
  }

  function scenarios() {
    if (!s.scenarios?.length) return null;
    const most = 50;
    const tables = s.best.map(({metric: name}) => {
      const metric = metricOf(name);
      const found = s.scenarios.map((one) => [one, one.best.find((b) => b.metric === name)]).filter(([, best]) => best);
      if (found.length === 0) return null;
      const {factor, unit} = scaleOf(metric, found.map(([, best]) => best.mean.mean));
      const rows = found.slice(0, most).map(([one, best]) => [settingOf(one.values), names[byLabel.get(best.policy)] ?? shown(best.policy, 30),
        settingOf(best.values) || '–', `${number(factor * best.mean.mean)}${bracket(best.mean, factor)}`,
        count(best.not_significantly_different, 'other')]);
      return el('div', {class: 'block'}, el('h3', {}, capital(metricName(metric)), unit ? ` [${unit}]` : ''),
        found.length > most ? el('p', {class: 'small'}, `The first ${most} of ${found.length} scenarios; the others: corun sweep --answers --format csv.`) : null,
        el('div', {class: 'scroll'}, plainTable(['Scenario', 'Best policy', 'Its setting', 'Mean', 'Not significantly different'], rows, {class: 'settings stacked'})));
    });
    return section('scenarios', 'Scenarios', 'Best configuration of each scenario',
      'A scenario is what the policies meet: load, cluster, costs. What an operator chooses is compared within it.', tables.filter(Boolean));
  }

  // How results move from one assumption about costs to another: means of each policy at each value of a key of `world`.
  function worlds() {
    const keys = s.keys.filter((key) => key.startsWith('world.'));
    const tables = keys.flatMap((key) => s.best.map((b) => {
      const metric = metricOf(b.metric);
      const of = s.policies.map((label) => s.effects.find((e) => e.metric === b.metric && e.factor === key && e.policy === label));
      const levels = of.find(Boolean)?.levels.map((level) => level.level) ?? [];
      if (levels.length < 2 || s.policies.length < 2) return null;
      const value = (p, l) => of[p]?.levels[l]?.mean ?? null;
      const {factor, unit} = scaleOf(metric, s.policies.flatMap((_, p) => levels.map((_, l) => value(p, l))));
      const best = levels.map((_, l) => s.policies.map((_, p) => p).filter((p) => value(p, l) !== null)
        .reduce((a, p) => (a === null || metric.better * value(p, l) > metric.better * value(a, l) ? p : a), null));
      const rows = s.policies.map((_, p) => [names[p], ...levels.map((_, l) => {
        const mine = value(p, l);
        if (mine === null) return '–';
        const beside = metric.unit === 's' && p !== best[l] ? ` ${ratio(mine, value(best[l], l))}` : '';
        return p === best[l] ? el('b', {}, number(factor * mine)) : `${number(factor * mine)}${beside}`;
      })]);
      const same = best.every((p) => p === best[0]);
      return el('div', {class: 'block'}, el('h3', {}, `${capital(metricName(metric))}${unit ? ` [${unit}]` : ''}`),
        el('p', {class: 'small'}, same ? `${names[best[0]]} has the best mean in all of them.` : 'The best policy is not the same in all of them.'),
        el('div', {class: 'scroll'}, plainTable(['Policy', ...levels.map((level) => `${shown(key, 40)} = ${shown(level, 40) || '(as configured)'}`)], rows, {class: 'settings'})));
    })).filter(Boolean);
    return tables.length ? section('worlds', 'Worlds', 'How results move over worlds',
      'Means over all other settings. Bold: the best in that world; ×: ratio to it. Whether a difference is significant: below.', tables) : null;
  }

  function bestConfigurations() {
    const tables = s.configurations.map((c) => {
      const metric = metricOf(c.metric);
      const {factor, unit} = scaleOf(metric, c.ranked.map((r) => r.mean.mean));
      const rows = c.ranked.slice(0, 8).map((r, i) => [settingOf(r.values) || (s.scenarios?.length ? 'no other setting' : `point ${r.point}`), names[byLabel.get(r.policy)] ?? shown(r.policy, 30),
        `${number(factor * r.mean.mean)}${bracket(r.mean, factor)}`,
        i === 0 ? 'best' : r.minus_best && Math.abs(r.minus_best.mean) < 1e-9 * Math.abs(r.mean.mean) ? 'as good' : r.minus_best ? `${number(factor * r.minus_best.mean)}${bracket(r.minus_best, factor)}` : '–',
        i === 0 ? '' : r.significant ? 'yes' : 'no']);
      return el('div', {class: 'block'}, el('h3', {}, capital(metricName(metric)), unit ? ` [${unit}]` : ''),
        el('p', {class: 'small'}, `${count(c.not_significantly_different ?? 0, 'other configuration')} ${c.not_significantly_different === 1 ? 'is' : 'are'} not significantly different from the best.`),
        el('div', {class: 'scroll'}, plainTable(['Setting', 'Policy', 'Mean', 'Minus the best', 'Significant'], rows, {class: 'settings stacked'})));
    });
    return section('best', 'Best', 'Best configurations by metric',
      `${s.scenarios?.length ? `A configuration is the settings that an operator chooses, with a policy; means over all ${s.scenarios.length} scenarios.` : 'A configuration is a point with a policy.'} Significant: paired t-test against the best below 5 %, with Holm’s correction.`, tables);
  }

  function effects() {
    const figures = s.best.map((b) => {
      const metric = metricOf(b.metric);
      const factors = [...new Set(s.effects.filter((e) => e.metric === b.metric).map((e) => e.factor))].filter((f) => f !== 'policy');
      if (factors.length === 0) return null;
      const share = (f) => s.effects.find((e) => e.metric === b.metric && e.factor === f && e.policy === null)?.share ?? 0;
      factors.sort((x, y) => share(y) - share(x));
      let chosen = factors[0];
      const of = (policy) => s.effects.find((e) => e.metric === b.metric && e.factor === chosen && e.policy === policy);
      const node = figure({
        id: `effect-${b.metric}`, title: capital(metricName(metric)), height: 300, lines: true, keys: s.policies.map((label, p) => ({name: names[p], i: p})).filter((_, p) => of(s.policies[p])),
        caption: 'Means over all other settings, by level of one setting. Its share says how much of the variation the setting explains.',
        controls: [choice('Setting', factors.map((f) => [f, `${shown(f, 40)} (${percent(share(f))})`]), chosen,
          (value) => { chosen = value; node.refresh(); })],
        option() {
          const lines = s.policies.map((label, p) => [of(label), p]).filter(([e]) => e);
          const all = of(null);
          const levels = all.levels.map((level) => shown(level.level, 24));
          const {factor, unit} = scaleOf(metric, lines.flatMap(([e]) => e.levels.map((level) => level.mean)).concat(all.levels.map((level) => level.mean)));
          const series = lines.length ? lines : [[all, -1]];
          return {
            grid: {left: 50, right: 20, top: 32, bottom: 46},
            tooltip: tooltip({trigger: 'axis', formatter: (items) => `${levels[items[0].dataIndex]}\n` +
              items.map((item) => `${number(item.value, 4)} ${unit}  ${item.seriesName}`).join('\n')}),
            xAxis: axis(shown(chosen, 40), {type: 'category', data: levels}),
            yAxis: upright(unit ? `[${unit}]` : '', {type: 'value', scale: true}),
            series: series.map(([e, p]) => ({type: 'line', name: p < 0 ? 'all policies' : names[p], ...look(Math.max(p, 0)), symbolSize: 7,
              data: e.levels.map((level) => (level.mean === null ? null : factor * level.mean)), emphasis: {focus: 'series'}})),
          };
        },
        table() {
          const rows = [];
          for (const label of [null, ...s.policies]) {
            const e = of(label);
            for (const level of e?.levels ?? []) rows.push([label === null ? 'all policies' : shown(label, 30), shown(level.level, 40), number(level.mean, 5), number(level.cells, 12)]);
          }
          return {head: ['Policy', shown(chosen, 40), `Mean (${metric.percent ? 'fraction' : metric.unit})`, 'Cells'], rows};
        },
      });
      return node;
    }).filter(Boolean);
    if (figures.length === 0) return null;
    return section('effects', 'Effects', 'Effect of each setting', null, el('div', {class: 'figures'}, figures));
  }

  function front() {
    if (s.cells.length === 0) return null;
    const onFront = [...s.pareto.points].sort((a, b) => a.isd - b.isd);
    const setting = (point) => {
      const at = s.numbers.indexOf(point);
      return at < 0 ? `point ${point}` : s.keys.map((key, k) => `${shown(key, 40)} = ${shown(s.settings[at][k], 30) || '(as configured)'}`).join('\n');
    };
    const node = figure({
      id: 'front', title: 'Slowdown against saving, every configuration', wide: true, height: 400, keys: s.policies.map((_, p) => ({name: names[p], i: p})),
      caption: 'A dot is a point with a policy. The line joins the configurations that no other beats in both: the Pareto front. Better is down and right.',
      option() {
        const t = current();
        return {
          grid: {left: 50, right: 24, top: 32, bottom: 46},
          tooltip: tooltip({trigger: 'item', formatter: ({seriesName, value}) =>
            `${seriesName}\nPS ${number(value[0])} %, ISD ${number(value[1])} %${value[2] === undefined ? '' : `\n${setting(value[2])}`}`}),
          xAxis: axis('Mean packing saving, PS [%]', {type: 'value', scale: true}),
          yAxis: upright('Mean individual slowdown, ISD [%]', {type: 'value', scale: true}),
          series: [...s.policies.map((_, p) => ({type: 'scatter', name: names[p], ...look(p), symbolSize: s.cells.length > 1500 ? 4 : 6,
            itemStyle: {color: colour(p), opacity: 0.6}, data: s.cells.filter((c) => c[1] === p).map((c) => [100 * c[3], 100 * c[2], c[0]])})),
          {type: 'line', name: 'Pareto front', symbol: 'circle', symbolSize: 9, z: 4, lineStyle: {color: t.text, width: 1.5},
            itemStyle: {color: t.panel, borderColor: t.text, borderWidth: 2}, data: onFront.map((c) => [100 * c.ps, 100 * c.isd, c.point])}],
        };
      },
      table: () => ({head: ['Policy', 'Setting', 'ISD', 'PS', 'Stays on the front'],
        rows: onFront.map((c) => [shown(c.policy, 30), setting(c.point).split('\n').join(', '), percent(c.isd, 3), percent(c.ps, 3), percent(c.stays)])}),
    });
    return section('pareto', 'Pareto front', 'Pareto front', null, node);
  }

  function differences() {
    if (s.differences.length === 0) return null;
    const rows = s.differences.slice(0, 200).map((d) => {
      const metric = metricOf(d.metric);
      const {factor, unit} = scaleOf(metric, [d.difference.mean]);
      return [capital(metricName(metric)), shown(d.better, 30), shown(d.worse, 30), `${number(factor * d.difference.mean)}${bracket(d.difference, factor)} ${unit}`,
        d.p_holm === null ? '–' : d.p_holm < 0.05 ? 'yes' : 'no', `${d.better_at} / ${d.worse_at}`];
    });
    return section('differences', 'Differences', 'Differences of policies', 'Paired by replication, over all points. Significant: below 5 % after Holm’s correction.',
      el('div', {class: 'scroll tall', tabindex: '0'}, plainTable(['Metric', 'Better', 'Worse', 'Difference', 'Significant', 'Better / worse at points'], rows)));
  }
}
