/** Compares docker-compose.yml and its files with the program. The test does not need docker. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { askRows } from '../../support/engine/askRows';
import { startStubChain, type StubChain } from '../../support/stub/stubChain';
import { writeEngineConfig } from '../../../src/clickhouse/engine/engineConfig';
import {
  createProgramHome,
  type ProgramHome,
  type RunningProgram,
} from '../../support/server/runningProgram';

const ROOT = join(__dirname, '../../..');
const DOCKER = join(ROOT, 'scripts/docker');
const { load } = jest.requireActual<{ load(text: string): unknown }>('js-yaml');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

interface Service {
  readonly image: string;
  readonly build?: { readonly context: string; readonly dockerfile: string };
  readonly volumes?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly healthcheck?: object;
  readonly ports?: readonly string[];
  readonly profiles?: readonly string[];
  readonly depends_on?: readonly string[] | Readonly<Record<string, object>>;
}

const compose = load(read('docker-compose.yml')) as {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, null>>;
};
const services = Object.entries(compose.services);

let chain: StubChain;
let home: ProgramHome;
let program: RunningProgram;
let shown: string;

beforeAll(async () => {
  chain = await startStubChain({ blocks: 200, logsPerBlock: 12, pairs: 4 });
  chain.setHead(120);
  home = await createProgramHome();
  program = await home.start(['http://127.0.0.1:9', chain.url]);
  await program.untilBlock(120);
  for (const head of [150, 180]) {
    chain.setHead(head);
    await program.untilBlock(head);
    await program.untilPromoted(chain.final);
  }
  const branch = chain.reorg(3, 5);
  await program.untilBlock(chain.head, chain.blocks[chain.head]!.hash);
  expect(branch).toHaveLength(3);
  for (const path of ['/api/v1/pairs', '/api/v1/overview'])
    await (await fetch(`${program.url}${path}`)).text();
  shown = await program.metrics();
});

afterAll(async () => {
  await home.drop();
  await chain.close();
});

function listFiles(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? listFiles(path) : [path];
  });
}

test('every file, volume and service named in docker-compose.yml exists', () => {
  for (const [name, { volumes = [], build, depends_on = [], healthcheck, image }] of services) {
    for (const volume of volumes) {
      const [source = ''] = volume.split(':');
      const isThere = source.startsWith('./') ? existsSync(join(ROOT, source)) : source in compose.volumes;
      expect([name, source, isThere]).toEqual([name, source, true]);
    }
    if (build !== undefined) expect(existsSync(join(ROOT, build.context, build.dockerfile))).toBe(true);
    const needed = Array.isArray(depends_on) ? depends_on : Object.keys(depends_on);
    for (const other of needed) expect(Object.keys(compose.services)).toContain(other);
    // Each service has a health check here. The services that are built from this repository have it in their image.
    expect([name, healthcheck !== undefined || build !== undefined]).toEqual([name, true]);
    expect(image).toMatch(/:(?!latest)[\w.${}:-]+$/);
  }
  const used = services.flatMap(([, { volumes = [] }]) => volumes.map((volume) => volume.split(':')[0]));
  for (const volume of Object.keys(compose.volumes)) expect(used).toContain(volume);
});

test('docker-compose.yml binds ports to localhost only, and every setting is known to the program', () => {
  const known = new Set([...read('.env.example').matchAll(/^([A-Z_0-9]+)=/gm)].map(([, name]) => name));
  for (const [name, { ports = [], environment = {}, build }] of services) {
    for (const port of ports) expect([name, port]).toEqual([name, expect.stringMatching(/^127\.0\.0\.1:/)]);
    if (build === undefined) continue;
    for (const setting of Object.keys(environment)) expect([name, known.has(setting)]).toEqual([name, true]);
  }
});

test('reader and writer have different passwords, and only Prometheus reaches the metrics', () => {
  for (const [name, { environment = {}, ports = [], build }] of services) {
    if (build === undefined) continue;
    const [write = '', readOnly = ''] = ['CLICKHOUSE_URL', 'CLICKHOUSE_READ_URL'].map(
      (setting) => environment[setting],
    );
    expect([name, write]).toEqual([name, expect.stringContaining(':${CLICKHOUSE_PASSWORD}@')]);
    expect([name, readOnly]).toEqual([name, expect.stringContaining(':${CLICKHOUSE_READER_PASSWORD}@')]);
    const metricsPort = environment['METRICS_PORT'];
    expect(read('scripts/docker/prometheus.yml')).toContain(`candlehouse:${metricsPort}`);
    for (const port of ports) expect(port).not.toContain(`:${metricsPort}`);
  }
  const users = read('scripts/docker/clickhouse/users.xml');
  expect(users).toContain('<password from_env="CLICKHOUSE_READER_PASSWORD"/>');
  for (const [name, { image, environment }] of services) {
    if (!image.startsWith('clickhouse/clickhouse-server')) continue;
    expect([name, environment]).toEqual([
      name,
      expect.objectContaining({
        CLICKHOUSE_PASSWORD: expect.stringContaining('CLICKHOUSE_PASSWORD'),
        CLICKHOUSE_READER_PASSWORD: expect.stringContaining('CLICKHOUSE_READER_PASSWORD'),
      }),
    ]);
  }
});

test('the ClickHouse image is of the same release as the embedded engine', async () => {
  const [row] = await askRows<{ version: string }>(home.database, 'SELECT version() AS version');
  const [major, minor] = row!.version.split('.');
  const images = services.map(([, { image }]) => image).filter((image) => image.startsWith('clickhouse/'));
  expect(images).toHaveLength(6);
  for (const image of images) expect(image).toMatch(new RegExp(`:-${major}\\.${minor}\\.\\d+\\.\\d+}$`));
});

test('the cluster of docker-compose.yml has a keeper and two shards of two replicas, each as a service', () => {
  const text = read('clickhouse/cluster/cluster.xml');
  const shards = [...text.matchAll(/<shard>([\s\S]*?)<\/shard>/g)].map(([, shard = '']) =>
    [...shard.matchAll(/<host>([\w-]+)<\/host>/g)].map(([, host]) => host),
  );
  expect(shards.map((hosts) => hosts.length)).toEqual([2, 2]);
  shards.forEach((hosts, shard) =>
    hosts.forEach((host, replica) => {
      expect(compose.services[host!]?.environment).toMatchObject({
        CLUSTER_SHARD: String(shard + 1),
        CLUSTER_REPLICA: String(replica + 1),
      });
      expect(compose.services[host!]?.profiles).toEqual(['cluster']);
    }),
  );
  const port = /<tcp_port>(\d+)<\/tcp_port>/.exec(read('clickhouse/cluster/keeper.xml'))?.[1];
  expect(text).toContain(`<node><host>keeper</host><port>${port}</port></node>`);
  expect(compose.services['candlehouse-cluster']?.environment?.['CLICKHOUSE_CLUSTER']).toBe('candlehouse');
});

test('configuration files are well formed, and the read-only user has the same limits as in the embedded engine', () => {
  const files = [...listFiles(DOCKER), ...listFiles(join(ROOT, 'clickhouse/cluster'))];
  for (const file of files.filter((name) => name.endsWith('.xml')))
    expect([file, findUnbalanced(readFileSync(file, 'utf8'))]).toEqual([file, null]);
  for (const file of files.filter((name) => name.endsWith('.yml')))
    expect(typeof load(readFileSync(file, 'utf8'))).toBe('object');
  const user = { name: 'writer', password: 'x' };
  const embedded = writeEngineConfig({
    nonce: 'n',
    writer: user,
    reader: { name: 'reader', password: 'x' },
    database: 'candlehouse',
    file: 'f',
    logFile: 'l',
    backupFolder: 'b',
    serverMemoryMax: 1,
    keepFreeBytes: 1,
  });
  const limitsOf = (text: string, profile: string): Record<string, string> => {
    const body = new RegExp(`<${profile}>([\\s\\S]*?)</${profile}>`).exec(text)?.[1] ?? '';
    return Object.fromEntries(
      [...body.matchAll(/<(\w+)>([^<>]+)<\/\1>/g)].map(([, name, value]) => [name, value]),
    );
  };
  const limits = limitsOf(embedded, 'reader');
  expect(Object.keys(limits).length).toBeGreaterThan(15);
  expect(limitsOf(read('scripts/docker/clickhouse/users.xml'), 'candlehouse_reader')).toEqual(limits);
});

/** The first closing tag that does not match the last open tag; null if all match. */
function findUnbalanced(text: string): string | null {
  const open: string[] = [];
  for (const [tag, closing, name = '', empty] of text
    .replace(/<!--[\s\S]*?-->/g, '')
    .matchAll(/<(\/?)([\w.]+)[^<>]*?(\/?)>/g)) {
    if (closing === '/') {
      if (open.pop() !== name) return tag;
    } else if (empty !== '/') open.push(name);
  }
  return open[0] ?? null;
}

test('the Docker image copies existing files, builds in stages, omits development packages and does not run as root', () => {
  const text = read('scripts/docker/Dockerfile');
  const ignored = read('scripts/docker/Dockerfile.dockerignore').split('\n');
  const copied = [...text.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, list = '']) =>
    list.split(' '),
  );
  expect(copied.length).toBeGreaterThan(8);
  for (const path of copied) {
    expect([path, existsSync(join(ROOT, path))]).toEqual([path, true]);
    expect(ignored).toContain(`!${path.split('/')[0]}`);
  }
  const last = text.slice(text.lastIndexOf('\nFROM '));
  expect(text.match(/^FROM /gm)).toHaveLength(3);
  expect(text).toMatch(/^RUN npm ci --omit=dev$/m);
  expect(last).toMatch(/^USER node$/m);
  expect(last).toMatch(/^HEALTHCHECK /m);
  expect(last).not.toMatch(/npm ci\b/);
  const engines = (JSON.parse(read('package.json')) as { engines: { node: string } }).engines.node;
  const major = /node:(\d+)\./.exec(text)?.[1];
  expect(engines).toMatch(new RegExp(`>=${major}\\.`));
});

test('the Docker image has the compilers of devDependencies', () => {
  const { devDependencies } = JSON.parse(read('package.json')) as { devDependencies: Record<string, string> };
  const compilers = Object.keys(devDependencies).filter((name) => /^solc-/.test(name));
  expect(compilers).toHaveLength(5);
  const text = read('scripts/docker/Dockerfile');
  for (const name of compilers) {
    const files = ['package.json', 'soljson.js'].map((file) => `/app/node_modules/${name}/${file}`).join(' ');
    expect(text).toContain(`COPY --from=build ${files} node_modules/${name}/`);
  }
});

/** Names in a PromQL expression that this program or its libraries export. */
function namesIn(expression: string): string[] {
  return [...expression.matchAll(/\b(?:candlehouse|process|nodejs)_\w+/g)].map(([name]) => name);
}

test('the Grafana dashboard and the alerts use exactly the exported metrics', () => {
  const types = new Map(
    [...shown.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) => [name, type]),
  );
  const dashboard = JSON.parse(read('scripts/docker/grafana/dashboards/candlehouse.json')) as {
    panels: { targets?: { expr: string }[] }[];
  };
  const alerts = load(read('scripts/docker/alerts.yml')) as { groups: { rules: { expr: string }[] }[] };
  const expressions = [
    ...dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)),
    ...alerts.groups.flatMap(({ rules }) => rules.map(({ expr }) => expr)),
  ];
  expect(expressions.length).toBeGreaterThan(40);
  for (const expression of expressions) {
    for (const name of namesIn(expression)) {
      const base = name.replace(/_(bucket|count|sum)$/, '');
      expect([name, types.has(name) || types.get(base) === 'histogram']).toEqual([name, true]);
    }
  }
  // Conversely, a panel or an alert uses every metric of this program, except the ones listed here.
  const named = new Set(expressions.flatMap(namesIn).map((name) => name.replace(/_(bucket|count|sum)$/, '')));
  const undrawn = [...types.keys()].filter((name) => name.startsWith('candlehouse_') && !named.has(name));
  expect(undrawn.sort()).toEqual([
    'candlehouse_balance_checks',
    'candlehouse_balance_checks_failed',
    'candlehouse_node_head_block',
  ]);
});

test('the Grafana dashboard shows head lag, ingest, queues, inserts, queries, streams, node errors and reorgs', async () => {
  const value = (pattern: RegExp): number => Number(pattern.exec(shown)?.[1]);
  expect(value(/^candlehouse_behind_blocks{chain="369"} (\d+)$/m)).toBe(0);
  expect(value(/^candlehouse_head_age_seconds{chain="369"} ([\d.]+)$/m)).toBeGreaterThan(0);
  const [row] = await askRows<{ swaps: string }>(home.database, 'SELECT count() AS swaps FROM swaps');
  expect(value(/^candlehouse_ingested_swaps_total{chain="369"} (\d+)$/m)).toBeGreaterThanOrEqual(
    Number(row?.swaps),
  );
  for (const queue of ['stream', 'reads', 'writes', 'rpc', 'blocks'])
    expect(
      value(new RegExp(`^candlehouse_queue_depth{queue="${queue}"} (\\d+)$`, 'm')),
    ).toBeGreaterThanOrEqual(0);
  expect(value(/^candlehouse_insert_seconds_count{table="swaps"} (\d+)$/m)).toBeGreaterThan(0);
  expect(value(/^candlehouse_insert_seconds_count{table="swaps_head"} (\d+)$/m)).toBeGreaterThan(0);
  expect(
    value(/^candlehouse_statement_seconds_count{kind="command",name="promote swaps"} (\d+)$/m),
  ).toBeGreaterThan(0);
  expect(value(/^candlehouse_query_seconds_count{name="head\/\w+"} (\d+)$/m)).toBeGreaterThan(0);
  expect(value(/^candlehouse_sse_clients{chain="369"} (\d+)$/m)).toBe(0);
  expect(value(/^candlehouse_reorgs_total{chain="369",depth="2"} (\d+)$/m)).toBe(1);
  // The first URL of RPC_URL does not answer, so its errors are counted and the second node gets the calls.
  expect(
    value(/^candlehouse_rpc_errors_total{chain="369",user="ingest",endpoint="rpc-0",kind="network"} (\d+)$/m),
  ).toBeGreaterThan(0);
  expect(
    value(/^candlehouse_rpc_calls_total{chain="369",user="ingest",endpoint="rpc-1"} (\d+)$/m),
  ).toBeGreaterThan(100);
});
