/**
 * Blocks of chain families, with headers, transactions and receipts of their own: how far they are proven, and that a
 * forged amount is found. Recorded blocks: anvil 1.7.1 with `--hardfork cancun`, `--hardfork prague` and
 * `--network optimism` made anvilForks.json; opRegolith.json has the receipts of a block of OP Goerli and their root, from
 * the test `check_optimism_receipt_root` of reth (crates/optimism/consensus/src/proof.rs). The other blocks are sealed by
 * an encoder of the tests.
 */
import { BloomBuilder, bloomToHex } from '../../../../src/node/blocks/bloom';
import { BlockProver, type BlockProof } from '../../../../src/node/proof/blockProof';
import { loadKeccak } from '../../../../src/node/proof/keccak';
import type { ChainLog } from '../../../../src/domain/block';
import recorded from '../../../golden/blocks/anvilForks.json';
import regolith from '../../../golden/blocks/opRegolith.json';
import type { Json } from '../../../support/node/lies';
import { plainHeader, plainReceipt } from '../../../support/oracle/plainRoots';
import { BlockSealer } from '../../../support/stub/blockSealer';
import { FULL_HEADER } from '../../../support/stub/stubFullBlock';

const LOGS = [1, 2].map((index) => ({
  address: `0x${String(index).repeat(40)}`,
  topics: [`0x${String(index).repeat(64)}`],
  data: `0x${String(index).padStart(64, '0')}`,
}));
const HEADER = {
  ...FULL_HEADER,
  number: '0x7',
  parentHash: `0x${'12'.repeat(32)}`,
  timestamp: '0x65000000',
  baseFeePerGas: '0x7',
  gasLimit: '0x1c9c380',
  gasUsed: '0xa410',
};

let prover: BlockProver;
let sealer: BlockSealer;
let blooms: BloomBuilder;

beforeAll(async () => {
  [prover, sealer, blooms] = await Promise.all([
    BlockProver.create(() => 0),
    BlockSealer.create(),
    BloomBuilder.create(),
  ]);
});

const bloomOf = (logs: unknown): string => bloomToHex(blooms.build(logs as ChainLog[]));

const proofOf = ({ level, fault }: BlockProof) => ({ level, isUnknown: fault?.isUnknown ?? null });

/** Changes the last digit of the data of the last log. */
function forge(receipts: readonly Json[]): Json[] {
  const copy = structuredClone(receipts) as (Json & { logs: Json[] })[];
  const log = copy.flatMap(({ logs }) => logs).at(-1)!;
  const data = String(log['data']);
  log['data'] = data.slice(0, -1) + (data.endsWith('0') ? '1' : '0');
  return copy;
}

test.each([
  ['cancun', ['0x0']],
  ['prague', ['0x4', '0x0']],
] as const)('a recorded block of %s with its new header fields is proven in full', (fork, types) => {
  const { header, receipts } = recorded[fork];
  expect(header.transactions.map(({ type }) => type)).toEqual(types);
  expect(prover.prove({ header, receipts })).toMatchObject({ level: 'full', fault: null });
  const other = { ...header, parentBeaconBlockRoot: `0x${'12'.repeat(32)}` };
  expect(proofOf(prover.prove({ header: other, receipts }))).toEqual({ level: 'bloom', isUnknown: false });
  const [first, ...rest] = header.transactions;
  const changed = { ...first, ...(fork === 'prague' ? { authorizationList: [] } : { nonce: '0x9' }) };
  const lie = { ...header, transactions: [changed, ...rest] };
  expect(proofOf(prover.prove({ header: lie, receipts }))).toEqual({ level: 'receipts', isUnknown: false });
});

// The transactions root of anvil contains the blobs, which no block contains, so only the transaction is recorded.
test('a block with a recorded blob transaction is proven in full', () => {
  const { transaction, receipt } = recorded.blob;
  const sealed = sealer.seal({ ...HEADER, logsBloom: receipt.logsBloom }, [transaction], [receipt]);
  const header = { ...sealed, transactions: [transaction] };
  const receipts = [{ ...receipt, effectiveGasPrice: undefined }];
  expect(prover.prove({ header, receipts })).toMatchObject({ level: 'full', fault: null });
  const lie = { ...header, transactions: [{ ...transaction, maxFeePerBlobGas: '0x9' }] };
  expect(proofOf(prover.prove({ header: lie, receipts }))).toEqual({ level: 'receipts', isUnknown: false });
});

test('a receipt names the created contract: a successful creation must have it, and no other transaction may', () => {
  const faultWith = ({ header, receipts }: typeof recorded.creation, contractAddress: string | null) =>
    prover.prove({ header, receipts: receipts.map((receipt) => ({ ...receipt, contractAddress })) }).fault
      ?.text;
  const { creation } = recorded;
  const created = creation.receipts[0]!.contractAddress;
  expect(faultWith(creation, created)).toBeUndefined();
  expect(faultWith(creation, null)).toBe(`contractAddress of receipt 0 is null, computed ${created}`);
  const { header, receipts } = recorded.prague;
  const named = receipts.map((receipt) => ({ ...receipt, contractAddress: created }));
  expect(prover.prove({ header, receipts: named }).fault?.text).toMatch(
    /^contractAddress of receipt 0 is 0x/,
  );
});

test('the receipts of a recorded OP block are proven with the nonce and the version of its deposit', () => {
  const { header, receipts } = recorded.optimism;
  const { level, fault } = prover.prove({ header, receipts });
  expect({ level, fault }).toEqual({
    level: 'receipts',
    fault: { text: 'the transaction type 0x7e is unknown', isUnknown: true },
  });
  expect(proofOf(prover.prove({ header, receipts: forge(receipts) }))).toEqual({
    level: 'headers',
    isUnknown: false,
  });
  const otherNonce = receipts.map((receipt) => ({ ...receipt, depositNonce: '0x2' }));
  expect(prover.prove({ header, receipts: otherNonce }).level).toBe('headers');
});

test('the receipts of an OP block between the Regolith and the Canyon fork have the recorded root', async () => {
  const receipts = regolith.receipts.map((receipt) => ({ ...receipt, logsBloom: bloomOf(receipt.logs) }));
  const logsBloom = bloomOf(regolith.receipts.flatMap(({ logs }) => logs));
  const header = { ...HEADER, logsBloom, receiptsRoot: regolith.receiptsRoot };
  const keccak = await loadKeccak();
  const hash = `0x${Buffer.from(keccak(plainHeader(header))).toString('hex')}`;
  const transactions = receipts.map(({ type }) => ({ type }));
  const told = { ...header, hash, transactions };
  expect(prover.prove({ header: told, receipts }).level).toBe('receipts');
  expect(prover.prove({ header: told, receipts: forge(receipts) }).level).toBe('headers');
});

/** A chain family, the fields of its receipts beside those of Ethereum, and those that the root contains. */
interface Family {
  readonly name: string;
  readonly type: string;
  readonly fields?: Json;
  readonly encoded?: readonly string[];
}

const FAMILIES: readonly Family[] = [
  { name: 'OP before Regolith', type: '0x7e' },
  {
    name: 'OP since Canyon',
    type: '0x7e',
    fields: { depositNonce: '0x0', depositReceiptVersion: '0x1' },
    encoded: ['#depositNonce', '#depositReceiptVersion'],
  },
  ...['0x64', '0x65', '0x66', '0x68', '0x69', '0x6a', '0x78'].map((type) => ({ name: 'Arbitrum', type })),
  { name: 'Celo as a layer 1', type: '0x7c' },
  { name: 'Celo as a layer 2', type: '0x7b', fields: { baseFee: '0x5d21dba00' }, encoded: ['#baseFee'] },
  { name: 'Scroll', type: '0x7e', fields: { l1Fee: '0x0' } },
  { name: 'Polygon since Madhugiri', type: '0x7f' },
];

/** A block with a transaction of the family and one of Ethereum, each with one log. */
function blockOf({ type, fields = {}, encoded = [] }: Family) {
  const [usual] = sealer.transactions(7, 1);
  const receipts = [type, String(usual!['type'])].map((own, index) => ({
    type: own,
    status: '0x1',
    cumulativeGasUsed: index === 0 ? '0x5208' : '0xa410',
    gasUsed: '0x5208',
    logs: LOGS.slice(index, index + 1),
    logsBloom: bloomOf(LOGS.slice(index, index + 1)),
    ...(index === 0 ? fields : {}),
  }));
  const other = Buffer.from(`${type.slice(2)}c0`, 'hex');
  const sealed = sealer.seal(
    { ...HEADER, logsBloom: bloomOf(LOGS) },
    [other, usual!],
    [plainReceipt(receipts[0]!, encoded), receipts[1]!],
  );
  return { header: { ...sealed, transactions: [{ type, hash: `0x${'34'.repeat(32)}` }, usual] }, receipts };
}

test.each(FAMILIES)('the receipts of $name with the type $type are proven by their root', (family) => {
  const { header, receipts } = blockOf(family);
  expect(proofOf(prover.prove({ header, receipts }))).toEqual({ level: 'receipts', isUnknown: true });
  const wrong = { level: 'headers', isUnknown: false };
  expect(proofOf(prover.prove({ header, receipts: forge(receipts) }))).toEqual(wrong);
  expect(proofOf(prover.prove({ header, receipts: forge(receipts.toReversed()).toReversed() }))).toEqual(
    wrong,
  );
  const failed = receipts.map((receipt) => ({ ...receipt, status: '0x0' }));
  expect(proofOf(prover.prove({ header, receipts: failed }))).toEqual(wrong);
});

test('receipts whose encoding is unknown are not called wrong: of another type, of Celo without the base fee, or without a bloom', () => {
  const unknown = { level: 'headers', isUnknown: true };
  const odd = blockOf({ name: 'another', type: '0x50', fields: { fee: '0x1' }, encoded: ['#fee'] });
  expect(proofOf(prover.prove(odd))).toEqual(unknown);
  const { header, receipts } = blockOf(
    FAMILIES.find(({ encoded }) => encoded?.includes('#baseFee') === true)!,
  );
  const without = receipts.map(({ baseFee: _, ...receipt }: Json) => receipt);
  expect(proofOf(prover.prove({ header, receipts: without }))).toEqual(unknown);
  const bare = receipts.map(({ logsBloom: _, ...receipt }: Json) => receipt);
  expect(proofOf(prover.prove({ header, receipts: bare }))).toEqual(unknown);
});
