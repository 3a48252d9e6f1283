/**
 * When the node or the database fails, /readyz, /metrics and the log report the problem within 30 s. They stop when the
 * problem is over.
 */
import { askRows } from '../../support/engine/askRows';
import { FakeChain, type Json } from '../../support/node/fakeChain';
import { FakeNode } from '../../support/node/fakeNode';
import {
  createProgramHome,
  type ProgramHome,
  type RunningProgram,
} from '../../support/server/runningProgram';
import { eventually, until } from '../../support/eventually';

const BLOCKS = 90;

let home: ProgramHome;
let nodes: FakeNode[];
let chain: FakeChain;

/** The program measures time with this clock. The test moves the clock forward instead of waiting. */
const steadyNow = performance.now.bind(performance);
let passedMs = 0;

function letPass(seconds: number): void {
  passedMs += 1_000 * seconds;
}

beforeAll(() => {
  jest.spyOn(performance, 'now').mockImplementation(() => steadyNow() + passedMs);
});

beforeEach(async () => {
  home = await createProgramHome();
  chain = new FakeChain(5, Math.floor(Date.now() / 1000) - BLOCKS * 10);
  chain.mineMany(BLOCKS, 4);
  nodes = [];
});

afterEach(async () => {
  await home.drop();
  for (const node of nodes) await node.stop();
});

/** Starts a program with several nodes of one chain, and waits until it has indexed the newest block. */
async function startOver(
  count: number,
  settings: Readonly<Record<string, string>> = {},
): Promise<RunningProgram> {
  while (nodes.length < count) nodes.push(await new FakeNode({ chain }).start());
  const program = await home.start(
    nodes.map((node) => node.httpUrl),
    settings,
  );
  await program.untilBlock(chain.head.number, chain.head.hash);
  await program.untilCalm();
  return program;
}

function problemsLogged(program: RunningProgram): unknown[] {
  return program.log.flatMap((line) => line['problem'] ?? []);
}

async function expectLogged(program: RunningProgram, code: RegExp): Promise<void> {
  await eventually(
    () => problemsLogged(program),
    (problems) => problems.some((one) => code.test(String(one))),
  );
}

test('/readyz reports a lagging node and a head that does not move', async () => {
  const program = await startOver(2);
  for (let block = 0; block < 3; block += 1) {
    chain.mine(2);
    await program.untilBlock(chain.head.number);
  }
  nodes[1]!.lag = 20;
  // The program requests the heads of all nodes every ten seconds.
  letPass(10);
  const [lagging] = await program.listProblems('node_lagging');
  expect(lagging?.figures).toEqual({ endpoint: 1, block_number: chain.head.number - 20 });
  expect(await program.metrics()).toMatch(
    /candlehouse_rpc_endpoint\{chain="369",endpoint="rpc-1",state="lagging"\} 1/,
  );
  letPass(15);
  expect(await program.untilProblem('node_stalled')).toContain(`no block after ${chain.head.number}`);
  // The API must read the head again after the clock has jumped.
  const isReadyThough = async (): Promise<boolean> => {
    const { ready, problems } = await program.ready();
    return ready && problems.some(({ code }) => code === 'node_stalled');
  };
  await until(isReadyThough);
  await expectLogged(program, /^node_lagging/);
  await expectLogged(program, /^node_stalled/);
  chain.mine(2);
  await program.untilCalm(['node_stalled']);
});

test('an API of a chain without new blocks is ready while it has indexed the newest block of its node', async () => {
  chain = new FakeChain(5, 1_700_000_000);
  chain.mineMany(BLOCKS, 1);
  const node = await new FakeNode({ chain }).start();
  nodes.push(node);
  const ingester = await home.start([node.httpUrl]);
  await ingester.untilBlock(BLOCKS);
  await ingester.stop();
  const program = await home.start([node.httpUrl], {}, false);
  await program.untilBlock(BLOCKS);
  expect(await program.untilProblem('writer_away')).toContain('The ingester has ended');
  const isReady = async (): Promise<boolean> => (await program.ready()).ready;
  await until(isReady);
  expect((await program.ready()).checks.node).toEqual({ ok: true, head: BLOCKS, behind_blocks: 0 });
  chain.mine(1);
  const [old] = await program.listProblems('head_old');
  expect(old?.figures['behind_blocks']).toBe(1);
  expect((await fetch(`${program.url}/readyz`)).status).toBe(503);
  node.onHttp = () => true;
  await program.untilProblem('node_away');
});

test('a node that omits logs is reported and not used for a while, and its blocks come from another node', async () => {
  const program = await startOver(2);
  const [liar] = nodes;
  liar!.onCall = (call) => {
    if (call.method !== 'eth_getBlockReceipts' || Number(call.params[0]) !== BLOCKS + 1) return undefined;
    const answer = liar!.perform(call);
    if (!('result' in answer)) return undefined;
    return { result: (answer.result as Json[]).map((receipt) => ({ ...receipt, logs: [] })) };
  };
  chain.mine(5);
  await program.untilBlock(BLOCKS + 1, chain.head.hash);
  expect(await program.untilProblem('node_benched')).toContain('bloom');
  const metrics = await program.metrics();
  expect(metrics).toContain('candlehouse_problem{code="node_benched"} 1');
  expect(metrics).toMatch(/candlehouse_rpc_mismatches_total\{chain="369",kind="bloom"\} [1-9]/);
  await expectLogged(program, /^node_benched/);
});

test('a node that is itself behind is reported, even if the API has all of its blocks', async () => {
  chain = new FakeChain(6, Math.floor(Date.now() / 1000) - 7_200);
  chain.mineMany(BLOCKS, 2);
  nodes.push(await new FakeNode({ chain }).start());
  const program = await home.start([nodes[0]!.httpUrl]);
  await program.untilBlock(BLOCKS);
  const [behind] = await program.listProblems('node_behind');
  expect(behind?.figures['block_number']).toBe(BLOCKS);
});

test('a database that does not answer is reported, and missed blocks are stored after its return', async () => {
  const program = await startOver(1);
  await home.cable.cut();
  await program.untilProblem('database_away');
  await expectLogged(program, /^database_away$/);
  chain.mineMany(4, 3);
  await home.cable.join();
  await program.untilBlock(BLOCKS + 4, chain.head.hash);
  await program.untilCalm();
});

test('a reorg beyond finality stops the writer, is reported, and leaves the data readable', async () => {
  const program = await startOver(1, { FINALITY_DEPTH: '8' });
  chain.reorg(60, 62);
  // A node whose chain contradicts final blocks may only be behind, so the ingester repeats its requests for some time
  // before it stops.
  await program.untilProblem('ingest_failing');
  letPass(15);
  expect(await program.untilProblem('ingest_stopped')).toMatch(/beyond finality/);
  await expectLogged(program, /^ingest_stopped$/);
  const answer = await fetch(`${program.url}/api/v1/activity?limit=1`);
  expect(answer.status).toBe(200);
  expect(answer.headers.get('x-indexed-block')).toBe(String(BLOCKS));
  expect(await program.metrics()).toContain('candlehouse_problem{code="ingest_stopped"} 1');
});

test('blocks missed while the program was stopped are reported until they are stored', async () => {
  // The chain begins early enough that its last block is not in the future.
  chain = new FakeChain(5, Math.floor(Date.now() / 1000) - (BLOCKS + 400) * 10);
  chain.mineMany(BLOCKS, 4);
  nodes.push(await new FakeNode({ chain }).start());
  const first = await home.start([nodes[0]!.httpUrl]);
  await first.untilBlock(BLOCKS, chain.head.hash);
  await first.stop();
  chain.mineMany(400, 4);
  const [node] = nodes;
  node!.onHttp = (_request, response, body) => {
    response.setHeader('content-type', 'application/json');
    setTimeout(() => response.end(JSON.stringify(node!.answerBody(body))), 400);
    return true;
  };
  const program = await home.start([node!.httpUrl]);
  const [missed] = await program.listProblems('catching_up');
  expect(missed?.figures['to_block']).toBe(490);
  node!.onHttp = () => false;
  await program.untilBlock(490, chain.head.hash);
  await program.untilCalm(['catching_up']);
});

test('a failing promotion is reported with its cause, and is repeated once the cause is gone', async () => {
  const program = await startOver(1);
  const { database } = home;
  // The view rejects every insert into the final table. New head blocks are still stored.
  await database.command('break', 'CREATE TABLE broken (number UInt32) ENGINE = MergeTree ORDER BY number');
  await database.command(
    'break',
    'CREATE MATERIALIZED VIEW mv_broken TO broken AS SELECT number + throwIf(number > 0) AS number FROM blocks',
  );
  chain.mineMany(40, 2);
  await program.untilProblem('ingest_failing');
  letPass(10);
  expect(await program.untilProblem('promotion_stuck')).toContain('to the final tables');
  expect(await program.untilProblem('ingest_failing')).toContain('promote blocks');
  expect((await program.ready()).checks.head.block_number).toBe(BLOCKS + 40);
  await database.command('mend', 'DROP VIEW mv_broken SYNC');
  await program.untilCalm(['promotion_stuck', 'ingest_failing']);
});

test('a clock set back an hour is reported, and the program continues with blocks, reorgs and answers', async () => {
  const program = await startOver(1);
  const versions = async (): Promise<string> => {
    const [row] = await askRows<{ newest: string; commits: string }>(
      home.database,
      'SELECT toString(max(version)) AS newest, toString(uniqExact(commit)) AS commits FROM head_blocks WHERE commit > 0',
    );
    return `${row!.newest.padStart(6)} ${row!.commits.padStart(6)}`;
  };
  const seen = [await versions()];
  const real = Date.now;
  const clock = jest.spyOn(Date, 'now').mockImplementation(() => real() - 3_600_000);
  try {
    for (let round = 0; round < 4; round += 1) {
      if (round % 2 === 0) chain.mine(3);
      else chain.reorg(3, 4);
      await program.untilBlock(chain.head.number, chain.head.hash);
      seen.push(await versions());
    }
    expect(seen).toEqual([...seen].sort());
    expect(new Set(seen).size).toBe(seen.length);
    expect(await program.untilProblem('clock_behind')).toContain('in the future');
    const { ready, checks } = await program.ready();
    expect({ ready, node: checks.node?.ok, database: checks.database.ok }).toEqual({
      ready: true,
      node: true,
      database: true,
    });
    // Timers still work: the program retries an endpoint soon after a short failure.
    const [node] = nodes;
    const failing = node!.calls.length + 3;
    node!.onHttp = (_request, response) => {
      if (node!.calls.length > failing) return false;
      node!.calls.push({ method: 'failed', params: [] });
      response.writeHead(503).end();
      return true;
    };
    chain.mine(2);
    await program.untilBlock(chain.head.number, chain.head.hash);
  } finally {
    clock.mockRestore();
  }
});

test('an API without an ingester reports the problems of the ingester, and a clean end of the ingester', async () => {
  const ingester = await startOver(2);
  const [reader, other] = [await home.start([], {}, false), await home.start([], {}, false)];
  for (const program of [reader, other]) {
    await program.untilBlock(BLOCKS, chain.head.hash);
    await program.untilCalm();
  }
  chain.mine(2);
  await reader.untilBlock(BLOCKS + 1, chain.head.hash);
  letPass(30);
  const text = await ingester.untilProblem('node_stalled');
  expect(await reader.untilProblem('node_stalled')).toBe(text);
  expect(await other.untilProblem('node_stalled')).toBe(text);
  const { ready, checks } = await reader.ready();
  expect([ready, checks.node?.head]).toEqual([true, BLOCKS + 1]);
  chain.mine(2);
  await reader.untilCalm(['node_stalled']);
  await ingester.stop();
  expect(await reader.untilProblem('writer_away')).toContain('The ingester has ended');
});
