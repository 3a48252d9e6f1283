/**
 * Which level of proof a block needs, and when a block may have less: formats that are not known, endpoints that agree or
 * contradict each other, levels that rise, and levels of stored blocks.
 */
import { BlockChecker } from '../../../../src/node/blocks/blockChecker';
import { BloomBuilder, bloomToHex } from '../../../../src/node/blocks/bloom';
import type { UncheckedBlock } from '../../../../src/node/blocks/fetchByReceipts';
import { parseHeader, parseReceipts } from '../../../../src/node/blocks/parseBlock';
import { loadKeccak } from '../../../../src/node/proof/keccak';
import type { WeakBlock } from '../../../../src/node/proof/proofGuard';
import type { ChainLog, ProofLevel, ProofMode } from '../../../../src/domain/block';
import { numberToHex } from '../../../../src/domain/hex';
import { plainReceipt, plainHeader } from '../../../support/oracle/plainRoots';
import type { Json } from '../../../support/node/lies';
import { BlockSealer } from '../../../support/stub/blockSealer';
import { FULL_HEADER } from '../../../support/stub/stubFullBlock';
import { silentLog } from '../setup';

let sealer: BlockSealer;
let builder: BloomBuilder;
let hashOf: (bytes: Buffer) => string;

beforeAll(async () => {
  const keccak = await loadKeccak();
  [sealer, builder] = await Promise.all([BlockSealer.create(), BloomBuilder.create()]);
  hashOf = (bytes) => `0x${Buffer.from(keccak(bytes)).toString('hex')}`;
});

type Raw = { readonly header: Json; readonly receipts: (Json & { logs: Json[] })[] };

const bloomOf = (logs: readonly Json[]): string => bloomToHex(builder.build(logs as unknown as ChainLog[]));

const logOf = (index: number): Json => ({
  address: `0x${String(index + 1).repeat(40)}`,
  topics: [`0x${String(index + 1).repeat(64)}`],
  data: `0x${'0'.repeat(63)}1`,
  logIndex: numberToHex(index),
});

interface Shape {
  /** Type of the second transaction; the first is one of Ethereum. */
  readonly type?: string;
  /** The second transaction is the state-sync transaction of Polygon: no root and no bloom contains it. */
  readonly isStateSync?: boolean;
  /** Fields of the header that its hash contains, and that are not known. */
  readonly newField?: Json;
  readonly hasBloom?: boolean;
}

/** A block of two transactions with one log each, as a node sends it. */
function rawBlock(number: number, { type, isStateSync = false, newField, hasBloom = true }: Shape = {}): Raw {
  const [first, second] = sealer.transactions(number, 2);
  const logs = [logOf(0), logOf(1)];
  const types = [String(first!['type']), type ?? String(second!['type'])];
  const receipts = types.map((own, index) => ({
    type: own,
    status: '0x1',
    cumulativeGasUsed: index === 0 ? '0x5208' : '0xa410',
    gasUsed: '0x5208',
    logs: [logs[index]!],
    logsBloom: bloomOf([logs[index]!]),
  }));
  const rooted = isStateSync ? 1 : 2;
  const other = type === undefined ? second! : Buffer.from(`${type.slice(2)}c0`, 'hex');
  const header = {
    ...FULL_HEADER,
    number: numberToHex(number),
    parentHash: `0x${'12'.repeat(32)}`,
    timestamp: '0x65000000',
    baseFeePerGas: '0x7',
    gasLimit: '0x1c9c380',
    gasUsed: '0xa410',
    logsBloom: hasBloom ? bloomOf(logs.slice(0, rooted)) : `0x${'00'.repeat(256)}`,
  };
  const sealed = sealer.seal(
    header,
    [first!, other].slice(0, rooted),
    receipts.slice(0, rooted).map((receipt) => plainReceipt(receipt)),
  );
  const hash =
    newField === undefined ? sealed.hash : hashOf(Buffer.concat([plainHeader(sealed), Buffer.of(1)]));
  const syncKey = Buffer.alloc(58);
  syncKey.write('matic-bor-receipt-');
  syncKey.writeUInt32BE(number, 22);
  syncKey.write(hash.slice(2), 26, 'hex');
  const secondHash = isStateSync
    ? hashOf(syncKey)
    : type === undefined
      ? second!.hash
      : `0x${'34'.repeat(32)}`;
  const where = { blockHash: hash, blockNumber: header.number };
  const hashes = [first!.hash, secondHash];
  const senders = [first!.from, type === undefined && !isStateSync ? second!.from : `0x${'00'.repeat(20)}`];
  const bodies = [first!, { ...(type === undefined ? second : {}), ...(type === undefined ? {} : { type }) }];
  return {
    header: {
      ...sealed,
      ...newField,
      hash,
      transactions: bodies.map((body, index) => ({
        ...body,
        ...where,
        hash: hashes[index],
        from: senders[index],
        transactionIndex: numberToHex(index),
      })),
    },
    receipts: receipts.map((receipt, index) => ({
      ...receipt,
      ...where,
      transactionHash: hashes[index],
      transactionIndex: numberToHex(index),
      from: senders[index],
      logs: receipt.logs.map((log) => ({
        ...log,
        ...where,
        transactionHash: hashes[index],
        transactionIndex: numberToHex(index),
      })),
    })),
  };
}

function answerOf({ header, receipts }: Raw): UncheckedBlock {
  const parsed = parseHeader(header);
  return { header: parsed.header, ...parseReceipts(receipts, parsed), raw: { header, receipts } };
}

/** Changes the amount in the last log. */
function forged(raw: Raw): Raw {
  const copy = structuredClone(raw);
  copy.receipts.at(-1)!.logs[0]!['data'] = `0x${'0'.repeat(63)}9`;
  return copy;
}

async function checkerOf(mode: ProofMode, endpoints: readonly number[]) {
  const weak: WeakBlock[] = [];
  const checker = await BlockChecker.create({
    proof: { mode, trusted: null },
    listAnswering: () => endpoints.map((id) => ({ id, isBenched: false })),
    onWeak: (block) => weak.push(block),
    log: silentLog,
    timeOfDay: () => 1_800_000_000,
  });
  const ask = (endpoint: number, raw: Raw): string => {
    const found = checker.verifyOne(endpoint, answerOf(raw));
    return found instanceof Error ? found.message : String(found.proof);
  };
  const learn = (shape: Shape): void => {
    for (const id of endpoints)
      checker.verifyAll(
        id,
        [1, 2, 3].map((number) => answerOf(rawBlock(number, shape))),
        [],
      );
  };
  return { checker, ask, learn, weak };
}

/** Blocks of a format that is not known, and the level at which they are accepted. */
const ODD: readonly [string, Shape, ProofLevel][] = [
  ['transactions of an unknown type', { type: '0x7e' }, 'receipts'],
  ['the state-sync transaction of Polygon', { isStateSync: true }, 'headers'],
  ['a header field of a new fork', { newField: { slotNumber: '0x1' } }, 'bloom'],
];

test.each(ODD)(
  'a block with %s is stored at the weaker level once all endpoints have sent it, and is reported',
  async (_, shape, level) => {
    const { ask, learn, weak } = await checkerOf('auto', [0, 1]);
    learn({});
    expect(ask(0, rawBlock(7))).toBe('full');
    expect(ask(0, rawBlock(8, shape))).toMatch(/block 8 is proven less than others/);
    expect(weak).toEqual([]);
    expect(ask(1, rawBlock(8, shape))).toBe(level);
    expect(weak).toEqual([{ number: 8, level, reason: expect.any(String) as string }]);
    // The next block is proven in full again.
    expect(ask(0, rawBlock(9))).toBe('full');
    const strict = await checkerOf('full', [0, 1]);
    for (const endpoint of [0, 1])
      expect(strict.ask(endpoint, rawBlock(8, shape))).toMatch(/fails verification \(proof\)/);
  },
);

test.each(ODD)(
  'with %s, a forged amount is not stored while an endpoint contradicts it',
  async (_, shape) => {
    const { ask, learn, weak } = await checkerOf('auto', [0, 1]);
    learn({});
    for (let round = 0; round < 5; round += 1) {
      expect(ask(0, forged(rawBlock(8, shape)))).toMatch(/block 8/);
      expect(ask(1, rawBlock(8, shape))).toMatch(/block 8 is proven less than others/);
    }
    expect(weak).toEqual([]);
  },
);

test('on a chain whose transactions are unknown, a forged amount is found without another endpoint', async () => {
  const { ask, learn, checker } = await checkerOf('auto', [0]);
  learn({ type: '0x7e' });
  expect(ask(0, rawBlock(7, { type: '0x7e' }))).toBe('receipts');
  expect(ask(0, forged(rawBlock(8, { type: '0x7e' })))).toMatch(/\(proof\): receiptsRoot is 0x/);
  expect({ bodies: checker.needsBodies, receipts: checker.needsReceipts }).toEqual({
    bodies: false,
    receipts: true,
  });
});

test('an endpoint that stays silent about a block does not hold back a majority', async () => {
  const { ask, learn } = await checkerOf('auto', [0, 1, 2]);
  learn({});
  const odd = rawBlock(8, { type: '0x7e' });
  const told = Array.from({ length: 3 }, () => [ask(0, odd), ask(1, odd)]).flat();
  expect(told.filter((text) => text === 'receipts')).toHaveLength(2);
  expect(told.slice(0, 4).every((text) => text.includes('not all endpoints'))).toBe(true);
});

test('the level rises when a later block is proven further, and not again below it', async () => {
  const { ask, learn, checker } = await checkerOf('auto', [0]);
  const sealedBlock = rawBlock(5);
  const strange = (raw: Raw): Raw => ({
    ...raw,
    header: { ...raw.header, stateRoot: `0x${'11'.repeat(32)}` },
  });
  checker.verifyAll(
    0,
    [1, 2, 3].map((number) => answerOf(strange(rawBlock(number)))),
    [],
  );
  learn({});
  expect(ask(0, strange(sealedBlock))).toBe('bloom');
  const levels = Array.from({ length: 1_100 }, () => ask(0, sealedBlock));
  expect(new Set(levels)).toEqual(new Set(['bloom', 'full']));
  expect(levels.at(-1)).toBe('full');
  expect(ask(0, strange(rawBlock(6)))).toMatch(/\(proof\): hash is/);
});

test('after a restart, the level does not fall below the level of stored blocks without a report', async () => {
  const { ask, checker, weak } = await checkerOf('auto', [0]);
  checker.expectLevel('full');
  const lying = forged(rawBlock(4));
  checker.verifyAll(0, [answerOf(lying), answerOf(lying), answerOf(lying)], []);
  expect(ask(0, lying)).toMatch(/\(proof\): receiptsRoot is/);
  const learning = await checkerOf('auto', [0]);
  learning.checker.expectLevel('receipts');
  learning.learn({ newField: { slotNumber: '0x1' } });
  expect(learning.ask(0, rawBlock(8, { newField: { slotNumber: '0x1' } }))).toBe('bloom');
  expect(learning.weak).not.toEqual([]);
  expect(weak).toEqual([]);
});

test.each<[ProofMode, string]>([
  ['auto', 'none'],
  ['bloom', 'none'],
  ['none', 'none'],
])(
  'with PROOF=%s, blocks of a chain with empty blooms and unknown headers have the level %s',
  async (mode, level) => {
    const { ask, learn, weak } = await checkerOf(mode, [0]);
    const shape = { hasBloom: false, newField: { slotNumber: '0x1' } };
    learn(shape);
    expect(ask(0, rawBlock(8, shape))).toBe(level);
    expect(weak).toEqual([]);
  },
);
