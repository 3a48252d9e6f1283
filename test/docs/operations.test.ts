/** docs/operations.md describes every command, setting, metric, problem and warning of the code, and no others. */
import type { Command } from 'commander';
import type { Gauge } from 'prom-client';

import { MISMATCH_KINDS } from '../../src/node/blocks/blockMismatch';
import { createProgram } from '../../src/main';
import { createMetrics } from '../../src/metrics';
import { PROTOCOLS } from '../../src/protocols/registry';
import { listLogCalls } from './logCalls';
import { codeOf, fencedLines, listFiles, sectionOf, rowsOf, textOf } from '../support/documents';

const PATH = 'docs/operations.md';
const documents = ['README.md', 'clickhouse/README.md', ...listFiles('docs', /\.md$/)];
const sources = listFiles('src', /\.ts$/).filter((path) => !path.startsWith('src/web/'));

/** Members of a union type of texts. */
function unionOf(path: string, declaration: RegExp): string[] {
  const [, union = ''] = declaration.exec(textOf(path)) ?? [];
  return [...union.matchAll(/'(\w+)'/g)].map(([, name = '']) => name);
}

/** Expects that `documented` lists each of the real names once, and no others. */
function expectSame(documented: readonly string[], real: readonly string[]): void {
  expect([...documented].sort()).toEqual([...new Set(real)].sort());
}

/** The usage of a command as `name --required [--optional]`, without values. */
function usageOf(command: Command): string {
  const places = command.registeredArguments.map(() => '<>');
  const options = command.options.map(({ long, mandatory }) =>
    mandatory === true ? `${long}` : `[${long}]`,
  );
  return [command.name(), ...places, ...options.sort()].join(' ');
}

/** The usage of a command in a document, such as `backfill --from A --to B`, in the form of `usageOf`. */
function writtenUsage(text: string): string {
  const options = [...text.matchAll(/(\[?)(--[\w-]+)/g)].map(([, open, long]) =>
    open === '' ? `${long}` : `[${long}]`,
  );
  const places = /^\S+ </.test(text) ? ['<>'] : [];
  return [text.split(' ')[0], ...places, ...options.sort()].join(' ');
}

const { commands } = createProgram();

test('docs/operations.md describes exactly the commands of the program, with their options', () => {
  const rows = rowsOf(sectionOf(PATH, 'Commands'), 'Command');
  expectSame(rows.flatMap(([cell = '']) => codeOf(cell)).map(writtenUsage), commands.map(usageOf));
});

test('every option is explained in a document outside the table of commands', () => {
  const table = /^\| Command \|[^]*?\n\n/m;
  const text = documents.map((path) => textOf(path).replace(table, '')).join('\n');
  const options = commands.flatMap((command) => command.options.map(({ long }) => long ?? ''));
  expect(options.filter((option) => !new RegExp(`${option}\\b`).test(text))).toEqual([]);
});

test('every command line in a document names a command and options that exist', () => {
  const lines = documents.flatMap((path) => {
    const text = textOf(path);
    return [...fencedLines(text, 'sh'), ...codeOf(text.replace(/^```[^]*?^```/gm, ''))];
  });
  const calls = lines.flatMap((line) => [
    ...line.matchAll(/(?:\bnode dist\/main\.js|^candlehouse) ([a-z][a-z-]*)([^#]*)/g),
  ]);
  expect(calls.length).toBeGreaterThan(10);
  const wrong = calls.filter(([, name, rest = '']) => {
    const command = commands.find((each) => each.name() === name);
    const known = ['--help', ...(command?.options ?? []).map(({ long }) => long ?? '')];
    return command === undefined || (rest.match(/--[\w-]+/g) ?? []).some((option) => !known.includes(option));
  });
  expect(wrong.map(([call]) => call)).toEqual([]);
});

test('docs/operations.md and .env.example describe exactly the settings of the program', () => {
  const [, object = ''] = /const settings = z\.object\(\{([^]*?)^\}\);/m.exec(textOf('src/config.ts')) ?? [];
  const settings = [...object.matchAll(/^ {2}([A-Z][A-Z0-9_]+):/gm)].map(([, name = '']) => name);
  expect(settings).toContain('RPC_URL');
  const rows = rowsOf(sectionOf(PATH, 'Settings'), 'Variable');
  expectSame(
    rows.flatMap(([cell = '']) => codeOf(cell)),
    settings,
  );
  const example = [...textOf('.env.example').matchAll(/^([A-Z][A-Z0-9_]+)=/gm)];
  expectSame(
    example.map(([, name = '']) => name),
    settings,
  );
});

test('docs/operations.md describes exactly the protocols of the program', () => {
  const rows = rowsOf(textOf(PATH), '`protocol`', 'Pools');
  expectSame(
    rows.flatMap(([cell = '']) => codeOf(cell)),
    [...PROTOCOLS.keys()],
  );
});

test('docs/operations.md describes exactly the metrics of the program, with their labels', async () => {
  const metrics = createMetrics();
  metrics.watchChains(() => []);
  metrics.watchProof(369, () => Promise.resolve([]));
  metrics.watchTransfers(369, () => {
    throw new Error('this test reads no values');
  });
  metrics.watchProblems(() => []);
  metrics.watchIngest(369, () => {
    throw new Error('this test reads no values');
  });
  const own = metrics.registry.getMetricsAsArray().filter(({ name }) => name.startsWith('candlehouse_'));
  const labelsOf = (metric: unknown): readonly string[] =>
    (metric as Gauge & { labelNames: string[] }).labelNames;
  const rows = rowsOf(sectionOf(PATH, 'Metrics'), 'Metric', 'Labels');
  expectSame(
    rows.map(([name = '', labels = '']) => [...codeOf(name), ...codeOf(labels)].join(' ')),
    own.map((metric) => [metric.name, ...labelsOf(metric)].join(' ')),
  );
});

test('docs/operations.md describes exactly the kinds of RPC errors and mismatches', () => {
  const section = sectionOf(PATH, 'Metrics');
  const kindsOf = (header: string): string[] =>
    rowsOf(section, header).flatMap(([cell = '']) => codeOf(cell));
  expectSame(
    kindsOf('`kind` of an RPC error'),
    unionOf('src/node/rpc/rpcError.ts', /type RpcErrorKind =([^;]*);/),
  );
  expectSame(kindsOf('`kind` of a mismatch'), MISMATCH_KINDS);
});

test('docs/operations.md describes exactly the problems that /readyz can report', () => {
  const files = ['src/api/service/readyz.ts', 'src/ingest/session/problems.ts', 'src/stream/writerState.ts']
    .map(textOf)
    .join('\n');
  // `catch_up` names a kind of work in these files. It is not a problem that /readyz reports.
  const named = [...files.matchAll(/'([a-z]+(?:_[a-z]+)+)'/g)]
    .map(([, code = '']) => code)
    .filter((code) => code !== 'catch_up');
  const faults = [...textOf('src/node/rpc/faults/nodeFaults.ts').matchAll(/code: '(\w+)'/g)];
  const nodes = unionOf('src/node/rpc/nodeHealth.ts', /type EndpointState =([^;]*);/);
  const engines = unionOf('src/clickhouse/engine/engineSupervisor.ts', /readonly state:([^;]*);/);
  const rows = rowsOf(sectionOf(PATH, 'Health'), 'Code');
  expectSame(
    rows.flatMap(([cell = '']) => codeOf(cell)),
    [
      ...named,
      ...faults.map(([, code = '']) => code),
      ...nodes.filter((state) => state !== 'ok').map((state) => `node_${state}`),
      ...engines.filter((state) => !['up', 'stopped'].includes(state)).map((state) => `engine_${state}`),
    ],
  );
});

test('docs/operations.md describes exactly the Prometheus alerts', () => {
  const alerts = [...textOf('scripts/docker/alerts.yml').matchAll(/^ *- alert: (\w+)$/gm)];
  const rows = rowsOf(sectionOf(PATH, 'Alerts'), 'Alert');
  expectSame(
    rows.flatMap(([cell = '']) => codeOf(cell)),
    alerts.map(([, name = '']) => name),
  );
});

describe('messages of the log are constant and documented', () => {
  /** Files with a computed message: the problems of /readyz, and the progress of the development chain. */
  const COMPUTED = ['src/commands/problemLog.ts', 'src/dev/devChain.ts'];
  const calls = sources
    .flatMap((path) => listLogCalls(textOf(path)).map((call) => ({ path, ...call })))
    .filter(({ level }) => level !== 'debug');
  const rows = rowsOf(sectionOf(PATH, 'Log events'), 'Level', '`msg`');

  test('every log call writes a constant message, except in two files', () => {
    const unread = calls.filter(({ messages }) => messages.length === 0).map(({ path }) => path);
    expect(unread.filter((path) => !COMPUTED.includes(path))).toEqual([]);
    expect(calls.length).toBeGreaterThan(60);
  });

  test('the table of log events has exactly the messages that the code logs, from level info on', () => {
    expectSame(
      rows.flatMap(([level, cell = '']) => codeOf(cell).map((message) => `${level}: ${message}`)),
      calls.flatMap(({ level, messages }) => messages.map((message) => `${level}: ${message}`)),
    );
  });
});
