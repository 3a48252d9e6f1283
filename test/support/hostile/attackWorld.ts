/**
 * A service under attack: a small chain, event logs of one megabyte, and a node that sends hostile answers on request.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { AbiCoder, Interface } from 'ethers';

import { STUB_V2_FACTORY } from '../stub/stubChain';
import { stubDescription } from '../stub/stubDescription';
import { openDatabase } from '../../../src/clickhouse/client/database';
import { insertRows } from '../../../src/clickhouse/rows/inserter';
import { logsTable } from '../../../src/clickhouse/schema/tables';
import type { Hex } from '../../../src/domain/hex';
import { toOrd } from '../../../src/domain/ord';
import { createTestDatabase } from '../engine/engine';
import { FakeChain, type FakeLog } from '../node/fakeChain';
import { FakeNode, type CallFault, type FakeCall } from '../node/fakeNode';
import { startProgram, waitForBlock, type Program } from '../server/program';
import { logRow } from '../worlds/logRow';

export const LONG_EMITTER: Hex = `0x${'1d'.repeat(20)}`;
/** Number of logs of one megabyte. */
const LONG_LOGS = 240;
const LOGS_PER_INSERT = 40;
/** A contract whose source is not verified. */
export const UNVERIFIED: Hex = `0x${'c0de'.repeat(10)}`;
const LONG_BYTES = 1_000_000;
const BLOCKS = 150;
const PAIRS = 12;

const MULTICALL3 = '0xca11bde05977b3631167028862be2a173976ca11';
const MULTICALL = new Interface([
  'function aggregate3((address target, bool allowFailure, bytes callData)[] calls) returns ((bool success, bytes returnData)[])',
]);
const PAIR_CREATED = '0x0d3648bd0f6ba80134a33ba9275ac585d9d315f0ad8355cddefde31afa28d0e9';
const SYNC = '0x1c411e9a96e071241c2f21f7726b17ae89e3cab4c78be50e062b03a9fffbbad1';
const SWAP = '0xd78ad95fa46c994b6551d0da85fc275fe613ce37657fb8d5e3d130840159d822';

const toWord = (value: number | bigint): string => value.toString(16).padStart(64, '0');
const topic = (address: string): string => `0x${address.slice(2).padStart(64, '0')}`;
const addressOf = (kind: string, index: number): Hex => `0x${kind}${index.toString(16).padStart(38, '0')}`;
/** An anchor of the chain description, used as the quote token. */
const quote = addressOf('02', 0);

/**
 * The creation log of the pair between the quote token and token number `index` of a kind (a prefix of the addresses).
 */
function creationOf(kind: string, index: number): FakeLog {
  const data = `0x${topic(poolOf(kind, index)).slice(2)}${toWord(index)}`;
  return {
    address: STUB_V2_FACTORY,
    topics: [PAIR_CREATED, topic(addressOf(kind, index)), topic(quote)],
    data,
  };
}

const poolOf = (kind: string, index: number): Hex => addressOf(kind === ORDINARY ? 'e1' : 'e6', index);

const ORDINARY = '01';
/** Tokens whose symbol is one megabyte long. */
const HUGE = '66';
const HUGE_SYMBOL = AbiCoder.defaultAbiCoder().encode(['string'], ['S'.repeat(1_000_000)]);

function tradesOf(block: number): FakeLog[] {
  return Array.from({ length: 3 }, (_, blockIndex): FakeLog[] => {
    const pool = poolOf(ORDINARY, (block + blockIndex) % PAIRS);
    const [amountIn, amountOut] = [BigInt(1_000_000 * (1 + blockIndex)), BigInt(990_000 * (1 + blockIndex))];
    const trader = topic(addressOf('77', block % 9));
    return [
      { address: pool, topics: [SYNC], data: `0x${toWord(10n ** 24n + amountIn)}${toWord(10n ** 24n)}` },
      {
        address: pool,
        topics: [SWAP, trader, trader],
        data: `0x${toWord(amountIn)}${toWord(0)}${toWord(0)}${toWord(amountOut)}`,
      },
    ];
  }).flat();
}

export interface AttackWorld {
  readonly program: Program;
  mine(): void;
  /** Mines a block that creates pools of `count` new tokens, each with a symbol of one megabyte. */
  mineHugeTokens(count: number): void;
  /** Answers the next request with `bytes` bytes of valid JSON. */
  floodNext(bytes: number): void;
  /** Number of requests that floodNext answered. */
  floods(): number;
  stop(): Promise<void>;
}

/** `longLogs` is the number of logs of one megabyte. */
export async function startAttackWorld({ longLogs = LONG_LOGS } = {}): Promise<AttackWorld> {
  const folder = mkdtempSync(join(tmpdir(), 'candlehouse-attack-'));
  const testDatabase = await createTestDatabase();
  const chain = new FakeChain(27);
  chain.mine(Array.from({ length: PAIRS }, (_, index) => creationOf(ORDINARY, index)));
  while (chain.head.number < BLOCKS) chain.mine(tradesOf(chain.blocks.length));
  const node = await new FakeNode({ chain }).start();
  node.onCall = answerCall;
  let [floodBytes, floodCount, hugeTokens] = [0, 0, 0];
  node.onHttp = (_request, response) => {
    if (floodBytes === 0) return false;
    sendFlood(response, floodBytes);
    [floodBytes, floodCount] = [0, floodCount + 1];
    return true;
  };
  writeFileSync(join(folder, 'chain.json'), JSON.stringify(stubDescription()));
  const cleanUp = async (): Promise<void> => {
    await node.stop();
    await testDatabase.drop();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const program = await startProgram('all', {
      RPC_URL: node.httpUrl,
      CHAIN_CONFIG: join(folder, 'chain.json'),
      START_BLOCK: '0',
      RATE_LIMIT_PER_MINUTE: '0',
      DATA_DIR: folder,
      CLICKHOUSE_URL: testDatabase.writerUrl,
      CLICKHOUSE_READ_URL: testDatabase.readerUrl,
    });
    const stop = async (): Promise<void> => {
      await program.end('SIGTERM');
      await cleanUp();
    };
    try {
      await waitForBlock(program.url, BLOCKS);
      await storeLongLogs(testDatabase.writerUrl, longLogs);
    } catch (error) {
      await stop();
      throw error;
    }
    return {
      program,
      mine: () => void chain.mine(tradesOf(chain.blocks.length)),
      mineHugeTokens(count) {
        chain.mine(Array.from({ length: count }, (_, index) => creationOf(HUGE, hugeTokens + index)));
        hugeTokens += count;
      },
      floodNext: (bytes) => void (floodBytes = bytes),
      floods: () => floodCount,
      stop,
    };
  } catch (error) {
    await cleanUp();
    throw error;
  }
}

/**
 * Inserts logs of one megabyte into a final block without the ingester, because a node would need minutes to send them.
 */
async function storeLongLogs(writerUrl: string, count: number): Promise<void> {
  const database = openDatabase({ url: writerUrl });
  const data: Hex = `0x${'1f'.repeat(LONG_BYTES)}`;
  try {
    for (let firstIndex = 0; firstIndex < count; firstIndex += LOGS_PER_INSERT) {
      const rows = Array.from({ length: LOGS_PER_INSERT }, (_, index) =>
        logRow({
          ord: toOrd(2, 1_000 + firstIndex + index),
          address: LONG_EMITTER,
          topics: [`0x${'70'.repeat(32)}`],
          data,
        }),
      );
      await insertRows(database, logsTable, rows);
    }
  } finally {
    await database.close();
  }
}

function answerCall({ method, params }: FakeCall): CallFault {
  if (method === 'eth_getCode')
    return { result: params[0] === UNVERIFIED ? `0x60${'5b'.repeat(500)}` : '0x' };
  if (method === 'eth_getBalance') return { result: '0x0' };
  if (method !== 'eth_call') return undefined;
  const { to, data } = params[0] as { to: string; data: string };
  if (to !== MULTICALL3) return { result: to.startsWith(`0x${HUGE}`) ? HUGE_SYMBOL : '0x' };
  const [calls] = MULTICALL.decodeFunctionData('aggregate3', data) as unknown as [{ target: string }[]];
  if (!calls.some(({ target }) => target.startsWith(`0x${HUGE}`))) return { result: '0x' };
  return { result: hugeAggregate(calls.length) };
}

/**
 * The result of aggregate3 when each call returns the megabyte. Encoded by hand, because ABI coders take seconds for
 * this size.
 */
function hugeAggregate(calls: number): string {
  const answerHex = HUGE_SYMBOL.slice(2);
  const bytes = answerHex.length / 2;
  const tuple = `${toWord(1)}${toWord(64)}${toWord(bytes)}${answerHex}${'00'.repeat((32 - (bytes % 32)) % 32)}`;
  const offsets = Array.from({ length: calls }, (_, index) =>
    toWord(calls * 32 + (index * tuple.length) / 2),
  );
  return `0x${toWord(32)}${toWord(calls)}${offsets.join('')}${tuple.repeat(calls)}`;
}

/** Streams a response of valid JSON, as fast as the client reads. */
function sendFlood(response: ServerResponse, bytes: number): void {
  const item = '"0123456789abcdef",';
  const wholeChunk = Buffer.from(item.repeat(Math.floor(2 ** 20 / item.length)));
  response.setHeader('content-type', 'application/json');
  response.write('{"jsonrpc":"2.0","id":1,"result":[');
  let unsentBytes = bytes;
  const send = (): void => {
    while (unsentBytes > 0 && !response.destroyed) {
      unsentBytes -= wholeChunk.length;
      if (!response.write(wholeChunk)) return void response.once('drain', send);
    }
    response.end('0]}');
  };
  send();
}
