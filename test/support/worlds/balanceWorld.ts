/**
 * A chain with transfers of tokens in a real store, and nodes that answer balanceOf for it. One token is rebasing, and
 * another has more tokens than its logs show.
 */
import type { Database } from '../../../src/clickhouse/client/database';
import { insertRows } from '../../../src/clickhouse/rows/inserter';
import {
  headBlocksTable,
  transfersTable,
  type HeadBlockRow,
  type TransferRow,
} from '../../../src/clickhouse/schema/tables';
import type { RpcError } from '../../../src/node/rpc/rpcError';
import { systemClock, type Clock } from '../../../src/node/rpc/clock';
import { ZERO_ADDRESS, type Hex } from '../../../src/domain/hex';
import { toOrd } from '../../../src/domain/ord';
import { BalanceChecker } from '../../../src/ingest/balances/balanceChecker';
import { newIngestStatus, type IngestStatus } from '../../../src/ingest/session/status';
import { createLog } from '../../../src/log';
import { answeringCalls, type Asked } from '../node/vaultSetup';
import { createRandom } from '../createRandom';
import { openTestStore, type TestStore } from '../engine/testStore';

const SEED = 90_210;
export const CHAIN_ID = 369;
export const BLOCKS = 60;
export const FINAL = 40;
/** What each holder of UNTOLD has beyond the logs. */
const UNTOLD_AMOUNT = 77n;
const BALANCE_OF = '0x70a08231';
export const TOKENS = Array.from({ length: 7 }, (_, index): Hex => `0x${'c'.repeat(39)}${index}`);
export const HOLDERS = Array.from(
  { length: 12 },
  (_, i): Hex => `0x${'d'.repeat(38)}${String(i).padStart(2, '0')}`,
);
/** The rebasing token, and the token with more than its logs show. */
export const [ELASTIC, UNTOLD] = [TOKENS[5]!, TOKENS[6]!];
export const log = createLog('silent', false);
export const hashOf = (number: number, branch = 0): Hex =>
  `0x${(number * 16 + branch).toString(16).padStart(64, '0')}`;

const openStores: TestStore[] = [];

/** Drops the databases of all worlds. */
export async function closeWorlds(): Promise<void> {
  for (const store of openStores) await store.close();
}

/** The transfers of each block, from block 1 on. */
function makeBlocks(): TransferRow[][] {
  const random = createRandom(SEED);
  return Array.from({ length: BLOCKS }, (_, index) =>
    Array.from({ length: 6 }, (__, logIndex): TransferRow => {
      const sender = random() < 0.4 ? ZERO_ADDRESS : random.pick(HOLDERS);
      return {
        ord: toOrd(index + 1, logIndex),
        timestamp: 1,
        token: random.pick(TOKENS),
        sender,
        recipient: random() < 0.1 ? sender : random.pick(HOLDERS),
        amount: random.big(random.int(100)),
        kind: 'transfer',
        tx_index: 0,
      };
    }),
  );
}
export const blocks = makeBlocks();

/** The balance from the logs of all blocks up to `number`. */
export function plainBalance(token: Hex, holder: Hex, number: number): bigint {
  return blocks
    .slice(0, number)
    .flat()
    .filter((row) => row.token === token && row.sender !== row.recipient)
    .reduce((sum, { sender, recipient, amount }) => {
      return sum + (recipient === holder ? amount : 0n) - (sender === holder ? amount : 0n);
    }, 0n);
}

/** The balance that the contract reports. One token's balances grow with each block, another token has more
 * than its logs show. */
function trueBalance(token: Hex, holder: Hex, number: number): bigint {
  const balance = plainBalance(token, holder, number);
  if (token === ELASTIC) return balance + BigInt(number);
  return token === UNTOLD ? balance + UNTOLD_AMOUNT : balance;
}

/** A store with history from block `first`, final up to FINAL, with a head up to `tip`. */
export async function storeWorld(first: number, tip: number): Promise<Database> {
  const store = await openTestStore();
  openStores.push(store);
  const { db } = store;
  const finalRows = blocks.slice(first - 1, FINAL).flat();
  await insertRows(db, transfersTable, finalRows);
  await db.command(
    'cursor',
    `INSERT INTO promotions (chain_id, seq, status, kind, from_block, to_block, to_hash, to_timestamp, counts)
     SELECT {chain:UInt32}, number, 'done', if(number = 0, 'start', 'backfill'), {first:UInt32},
       if(number = 0, {first:UInt32} - 1, {final:UInt32}), unhex({hash:String}), 1, map() FROM numbers(2)`,
    { chain: CHAIN_ID, first, final: FINAL, hash: hashOf(FINAL).slice(2) },
  );
  await addHead(db, FINAL + 1, tip);
  return db;
}

export function headRow(number: number, { branch = 0, version = number } = {}): HeadBlockRow {
  return {
    chain_id: CHAIN_ID,
    number,
    hash: hashOf(number, branch),
    parent_hash: hashOf(number - 1),
    timestamp: 1,
    commit: version,
    version,
    final_number: FINAL,
    proof: 'full',
  };
}

export async function addHead(db: Database, from: number, to: number): Promise<void> {
  for (let number = from; number <= to; number += 1) {
    await insertRows(db, transfersTable, blocks[number - 1]!, { commit: number });
    await insertRows(db, headBlocksTable, [headRow(number)]);
  }
}

function numberAt({ at }: Asked): number {
  if (typeof at !== 'object') throw new Error('a call without a block hash');
  return Number(BigInt(at.blockHash)) >> 4;
}

export const word = (value: bigint): Hex => `0x${BigInt.asUintN(256, value).toString(16).padStart(64, '0')}`;

/** A node that answers balanceOf with the balance at the block of the requested hash. */
export function answerTruly(asked: Asked): Hex | null {
  if (!asked.data.startsWith(BALANCE_OF)) return null;
  return word(trueBalance(asked.to, `0x${asked.data.slice(-40)}`, numberAt(asked)));
}

/** A clock on which no time limit passes. */
export const patientClock: Clock = {
  ...systemClock(),
  sleep: (_ms, signal) => systemClock().sleep(600_000, signal),
};

export function openChecker(
  db: Database,
  answer: (asked: Asked) => Hex | null | RpcError,
  hashAt: (number: number) => Hex = hashOf,
): { checker: BalanceChecker; status: IngestStatus } {
  const status = newIngestStatus();
  const random = createRandom(SEED + 1);
  const clock = { ...patientClock, random: () => random() };
  const rpc = answeringCalls(answer, hashAt);
  return {
    checker: new BalanceChecker({ database: db, rpc, chainId: CHAIN_ID, status, log, clock }),
    status,
  };
}
