/**
 * Logs of a block that belong to none of its transactions, as Celo and zkSync have them: they are stored if nothing
 * contradicts them, and never proven by a receipt that is not part of the receipts root.
 */
import { BlockChecker } from '../../../../src/node/blocks/blockChecker';
import { BloomBuilder, bloomToHex } from '../../../../src/node/blocks/bloom';
import type { UncheckedBlock } from '../../../../src/node/blocks/fetchByReceipts';
import { parseHeader, parseReceipts } from '../../../../src/node/blocks/parseBlock';
import type { ChainBlock, ProofMode } from '../../../../src/domain/block';
import { numberToHex, ZERO_HASH } from '../../../../src/domain/hex';
import { FakeChain, type FakeBlock, type Json } from '../../../support/node/fakeChain';
import type { FakeNode } from '../../../support/node/fakeNode';
import { BlockSealer } from '../../../support/stub/blockSealer';
import { FULL_HEADER } from '../../../support/stub/stubFullBlock';
import { expectedBlock } from '../expectedBlock';
import { closeAll, silentLog, sourceOf, startNode } from '../setup';

afterEach(closeAll);

/** The hashes that nodes write in place of the hash of a transaction. */
const PLACES: readonly [string, (block: FakeBlock) => unknown][] = [
  ['the hash of the block', ({ hash }) => hash],
  ['the zero hash', () => ZERO_HASH],
  ['null', () => null],
];

/** Moves the logs of the last transaction of each third block to the block itself. */
const isMoved = (block: FakeBlock): boolean => block.number % 3 === 0 && block.logs.length > 0;
const lastIndex = (block: FakeBlock): unknown => block.logs.at(-1)?.['transactionIndex'];

function moveLogs(node: FakeNode, placeOf: (block: FakeBlock) => unknown): void {
  const ownerOf = (log: Json): FakeBlock => node.chain.at(Number(log['blockNumber']));
  const move = (log: Json): Json => {
    const block = ownerOf(log);
    if (!isMoved(block) || log['transactionIndex'] !== lastIndex(block)) return log;
    return { ...log, transactionHash: placeOf(block), transactionIndex: null };
  };
  const strip = (receipt: Json): Json => {
    const block = ownerOf(receipt);
    return isMoved(block) && receipt['transactionIndex'] === lastIndex(block)
      ? { ...receipt, logs: [] }
      : receipt;
  };
  node.onCall = (call) => {
    const answer = node.perform(call);
    if (!('result' in answer)) return undefined;
    if (call.method === 'eth_getTransactionReceipt') return { result: strip(answer.result as Json) };
    if (!Array.isArray(answer.result)) return undefined;
    if (call.method === 'eth_getLogs') return { result: (answer.result as Json[]).map(move) };
    return call.method === 'eth_getBlockReceipts'
      ? { result: (answer.result as Json[]).map(strip) }
      : undefined;
  };
}

function expectedMoved(block: FakeBlock): ChainBlock {
  const whole = expectedBlock(block);
  if (!isMoved(block)) return whole;
  const from = Number(lastIndex(block));
  const logs = whole.logs.map((log) =>
    log.transactionIndex < from
      ? log
      : { ...log, transactionHash: ZERO_HASH, transactionIndex: block.transactions.length },
  );
  return { ...whole, logs };
}

const withoutGas = ({ transactions, ...block }: ChainBlock): unknown => ({
  ...block,
  transactions: transactions.map(({ hash }) => hash),
});

describe.each(PLACES)('logs with %s in place of a transaction hash', (_, placeOf) => {
  test.each([true, false])(
    'are read as logs of the block (with eth_getBlockReceipts: %s)',
    async (hasReceipts) => {
      const chain = new FakeChain(41);
      chain.mineMany(30, 8);
      const node = await startNode(chain);
      node.hasReceipts = hasReceipts;
      moveLogs(node, placeOf);
      const blocks = await sourceOf([node]).source.fetchRange(1, 30);
      expect(blocks.map(withoutGas)).toEqual(chain.blocks.slice(1).map(expectedMoved).map(withoutGas));
      expect(
        blocks.filter(({ logs }) => logs.some((log) => log.transactionHash === ZERO_HASH)).length,
      ).toBeGreaterThan(3);
    },
  );
});

const log = (index: number, data = '0x01') => ({
  address: `0x${String(index + 1).repeat(40)}` as const,
  topics: [`0x${String(index + 1).repeat(64)}`] as const,
  data,
  logIndex: numberToHex(index),
});

interface Shape {
  /** Whether the receipts root commits to the logs of the block. */
  readonly inRoot: boolean;
  /** Whether the header's bloom commits to them. */
  readonly inBloom: boolean;
  readonly blockLogs: readonly ReturnType<typeof log>[];
}

let sealing: Promise<BlockSealer> | undefined;

/** A block with one transaction of two logs, and logs of its own, with a real hash and real roots. */
async function sealed({ inRoot, inBloom, blockLogs }: Shape): Promise<UncheckedBlock> {
  sealing ??= BlockSealer.create();
  const sealer = await sealing;
  const builder = await BloomBuilder.create();
  const bloomOf = (logs: readonly unknown[]): string => bloomToHex(builder.build(logs as never));
  const [transaction] = sealer.transactions(7, 1);
  const own = [log(0), log(1)];
  const receiptOf = (logs: readonly object[], hash: unknown, type: string): Json => ({
    type,
    status: '0x1',
    cumulativeGasUsed: logs === own ? '0x5208' : '0x0',
    logsBloom: bloomOf(logs),
    logs,
    transactionHash: hash,
  });
  const first = receiptOf(own, transaction!.hash, String(transaction!['type']));
  const last = receiptOf(blockLogs, null, '0x0');
  const header = {
    ...FULL_HEADER,
    number: '0x7',
    parentHash: ZERO_HASH,
    timestamp: '0x65000000',
    baseFeePerGas: '0x7',
    gasLimit: '0x1c9c380',
    gasUsed: '0x5208',
    logsBloom: bloomOf(inBloom ? [...own, ...blockLogs] : own),
    transactions: [{ ...transaction, transactionIndex: '0x0' }],
  };
  const raw = sealer.seal(header, [transaction!], inRoot && blockLogs.length > 0 ? [first, last] : [first]);
  const where = { blockHash: raw.hash, blockNumber: '0x7' };
  const placed = (receipt: Json, index: Json): Json => ({
    ...receipt,
    ...where,
    ...index,
    logs: (receipt['logs'] as Json[]).map((one) => ({
      ...one,
      ...where,
      ...index,
      transactionHash: receipt['transactionHash'],
    })),
  });
  const receipts = [placed(first, { transactionIndex: '0x0', from: transaction!.from, gasUsed: '0x5208' })];
  if (blockLogs.length > 0) receipts.push(placed(last, { transactionIndex: null }));
  const parsed = parseHeader(raw);
  return { header: parsed.header, ...parseReceipts(receipts, parsed), raw: { header: raw, receipts } };
}

async function check(mode: ProofMode, shape: Shape): Promise<string> {
  const checker = await BlockChecker.create({
    proof: { mode, trusted: null },
    listAnswering: () => [{ id: 0, isBenched: false }],
    log: silentLog,
    timeOfDay: () => 1_800_000_000,
  });
  // One block that is proven in full teaches `auto` that the chain allows it.
  const [usual] = checker.verifyAll(0, [await sealed({ inRoot: true, inBloom: true, blockLogs: [] })], []);
  expect(usual).toMatchObject({ number: 7 });
  const block = checker.verifyOne(0, await sealed(shape));
  return block instanceof Error ? block.message : `${block.proof} ${block.logs.length}`;
}

const others = [log(2), log(3)];
/** A false copy of the first log: the bloom of the block contains its address and topics. */
const copied = [{ ...log(0, '0x66'), logIndex: numberToHex(2) }];

test.each<[ProofMode, string, Shape, string]>([
  ['auto', 'part of the receipts root', { inRoot: true, inBloom: true, blockLogs: others }, 'full 4'],
  ['full', 'part of the receipts root', { inRoot: true, inBloom: true, blockLogs: others }, 'full 4'],
  ['auto', 'part of the bloom only', { inRoot: false, inBloom: true, blockLogs: others }, 'headers 4'],
  ['headers', 'part of the bloom only', { inRoot: false, inBloom: true, blockLogs: others }, 'headers 4'],
  ['bloom', 'part of the bloom only', { inRoot: false, inBloom: true, blockLogs: others }, 'bloom 4'],
  ['full', 'part of the bloom only', { inRoot: false, inBloom: true, blockLogs: others }, 'proof'],
  ['auto', 'part of nothing', { inRoot: false, inBloom: false, blockLogs: others }, 'bloom'],
  ['auto', 'false copies', { inRoot: false, inBloom: false, blockLogs: copied }, 'proof'],
])('with PROOF=%s, logs of the block that are %s give: %s', async (mode, _, shape, outcome) => {
  const told = await check(mode, shape);
  expect(outcome.includes(' ') ? told : told.slice(0, told.indexOf(':'))).toContain(outcome);
});
