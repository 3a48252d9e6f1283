/** Stores 200 real verified contracts and reads them back unchanged. Also tests contracts with the same code
 * (twins) and the replacement of records. */
import { Interface, keccak256, toUtf8Bytes } from 'ethers';

import type { Hex } from '../../../src/domain/hex';
import type { VerifiedContract } from '../../../src/domain/verifiedContract';
import type { VerifiedRecord } from '../../../src/contracts/verifiedRecord';
import { askRows } from '../../support/engine/askRows';
import { openSourcesDatabase, type SourcesDatabase } from '../../support/engine/sourcesDatabase';
import { makeRecords } from '../../support/worlds/verifiedWorld';

let db: SourcesDatabase;
let records: VerifiedRecord[];

beforeAll(async () => {
  db = await openSourcesDatabase();
  records = await makeRecords(369);
  expect(await db.store.store(records)).toEqual({ stored: records.length, unchangedCount: 0 });
});

afterAll(() => db.close());

/** The expected answer of the reader for a record, written by hand. */
function expected(record: VerifiedRecord): VerifiedContract {
  const files = record.sources.map(({ path, content }) => ({
    path,
    contentHash: keccak256(toUtf8Bytes(content)) as Hex,
  }));
  return { ...record.contract, matchId: expect.stringMatching(/^[1-9]\d*$/) as string, twinOf: null, files };
}

/** The record of the first token, with some changes. */
function like(
  record: VerifiedRecord,
  address: Hex,
  changes: Partial<VerifiedRecord['contract']> = {},
): VerifiedRecord {
  return { ...record, contract: { ...record.contract, address, ...changes } };
}

const token = (): VerifiedRecord => records.find((record) => record.contract.name === 'Pulse_Token_0')!;
const at = (digit: string): Hex => `0x${digit.repeat(40)}`;

test('at least 150 contracts are read back as stored, with their sources', async () => {
  expect(records.length).toBeGreaterThanOrEqual(150);
  const found = await db.reader.findMany(records.map((record) => ({ ...record.contract, codeHash: null })));
  expect(found).toEqual(records.map(expected));
  for (const [index, contract] of found.entries()) {
    if (index % 20 !== 0 || contract === null) continue;
    expect(await db.reader.readSources(contract)).toEqual(records[index]?.sources);
  }
});

test('a file shared by many contracts is stored once', async () => {
  const rows = await askRows<{ files: string; hashes: string }>(
    db.writer,
    'SELECT count() AS files, uniqExact(content_hash) AS hashes FROM source_files',
  );
  const contents = new Set(records.flatMap((record) => record.sources.map((file) => file.content)));
  expect(rows).toEqual([{ files: String(contents.size), hashes: String(contents.size) }]);
});

test('storing the same contracts again changes nothing', async () => {
  expect(await db.store.store(records.slice(0, 20))).toEqual({ stored: 0, unchangedCount: 20 });
});

test('a lookup of an unverified contract gives null, with or without an unknown code hash', async () => {
  const nobody = { chainId: 369, address: at('0') };
  expect(await db.reader.find(nobody, null)).toBeNull();
  expect(await db.reader.find(nobody, `0x${'12'.repeat(32)}`)).toBeNull();
});

test('a contract with the code of a verified contract on any chain shows this verification', async () => {
  const { contract, codeHash } = token();
  const found = await db.reader.find({ chainId: 943, address: at('7') }, codeHash);
  expect(found).toEqual({
    ...expected(token()),
    chainId: 943,
    address: at('7'),
    constructorArguments: null,
    twinOf: { chainId: 369, address: contract.address },
  });
  expect(await db.reader.readSources(found!)).toEqual(token().sources);
  const plain = records.find((each) => each.contract.constructorArguments === '0x')!;
  const other = await db.reader.find({ chainId: 943, address: at('7') }, plain.codeHash);
  expect([other?.twinOf === null, other?.constructorArguments]).toEqual([false, '0x']);
});

test('of several verified contracts with the same code, the reader chooses exact matches first, then contracts of the same chain, then the oldest', async () => {
  const codeHash: Hex = `0x${'c0de'.repeat(16)}`;
  const make = (
    digit: string,
    chainId: number,
    status: 'exact_match' | 'match',
    verifiedAt: number,
  ): VerifiedRecord => ({
    ...like(token(), at(digit), { chainId, status, verifiedAt }),
    codeHash,
  });
  const twinOf = async (chainId: number): Promise<string | undefined> => {
    const found = await db.reader.find({ chainId, address: at('9') }, codeHash);
    return found?.twinOf?.address[2];
  };
  await db.store.store([make('1', 943, 'match', 100)]);
  expect(await twinOf(369)).toBe('1');
  await db.store.store([make('2', 943, 'match', 50), make('3', 369, 'match', 200)]);
  expect([await twinOf(369), await twinOf(943)]).toEqual(['3', '2']);
  await db.store.store([make('4', 943, 'exact_match', 900)]);
  expect([await twinOf(369), await twinOf(943)]).toEqual(['4', '4']);
  await db.store.store([make('5', 369, 'exact_match', 901), make('6', 369, 'exact_match', 902)]);
  expect([await twinOf(369), await twinOf(943)]).toEqual(['5', '4']);
  // A contract's own verification takes precedence over the verification of a contract with the same code.
  const own = await db.reader.find({ chainId: 943, address: at('1') }, codeHash);
  expect([own?.twinOf, own?.status]).toEqual([null, 'match']);
});

test('a verified contract whose code changed no longer lends its sources to contracts with the old code', async () => {
  const codeHash: Hex = `0x${'0ld0'.replace('l', '1').repeat(16)}`;
  const record = { ...like(token(), at('a')), codeHash };
  await db.store.store([record]);
  expect((await db.reader.find({ chainId: 369, address: at('b') }, codeHash))?.twinOf?.address).toBe(at('a'));
  await db.store.store([{ ...record, codeHash: `0x${'4e30'.repeat(16)}` }]);
  expect(await db.reader.find({ chainId: 369, address: at('b') }, codeHash)).toBeNull();
});

test('an exact match replaces a partial match and all files of it, but a partial match does not replace an exact match', async () => {
  const weak = like(token(), at('e'), { status: 'match', source: 'blockscout', name: 'Weak' });
  const other: VerifiedRecord = {
    ...weak,
    sources: [{ path: 'flat.sol', content: '// only_in_the_flat_file\n' }],
  };
  await db.store.store([other]);
  const strong = like(token(), at('e'));
  expect(await db.store.store([strong])).toEqual({ stored: 1, unchangedCount: 0 });
  expect(await db.store.store([other])).toEqual({ stored: 0, unchangedCount: 1 });
  expect(await db.reader.find(strong.contract, null)).toEqual(expected(strong));
  const [row] = await askRows<{ uses: string }>(
    db.writer,
    `SELECT count() AS uses FROM source_uses FINAL WHERE address = unhex('${'e'.repeat(40)}') AND path = 'flat.sol'`,
  );
  expect(row).toEqual({ uses: '0' });
});

test.each(['sourcify', 'blockscout', 'ancestor:1', 'local'] as const)(
  'a partial match from %s is replaced by no other partial match, but by an exact match',
  async (source) => {
    const address: Hex = `0x${source.charCodeAt(0).toString(16).padStart(40, 'b')}`;
    const codeHash: Hex = `0x${'77'.repeat(32)}`;
    const first = { ...like(token(), address, { status: 'match', source, name: 'First' }), codeHash };
    await db.store.store([first]);
    for (const other of ['local', 'sourcify', 'blockscout', 'ancestor:1'] as const) {
      const second = { ...like(first, address, { source: other, name: 'Second' }), codeHash };
      expect(await db.store.store([second])).toEqual({ stored: 0, unchangedCount: 1 });
    }
    expect((await db.reader.find(first.contract, null))?.name).toBe('First');
    expect(await db.store.store([{ ...like(token(), address), codeHash }])).toEqual({
      stored: 1,
      unchangedCount: 0,
    });
  },
);

test('storing a partial match again with its code hash and constructor arguments adds them', async () => {
  const facts = { status: 'match', source: 'local' } as const;
  const bare = { ...like(token(), at('d'), { ...facts, constructorArguments: null }), codeHash: null };
  await db.store.store([bare]);
  const codeHash: Hex = `0x${'78'.repeat(32)}`;
  const full = { ...like(bare, at('d'), { constructorArguments: '0x' }), codeHash };
  expect(await db.store.store([full])).toEqual({ stored: 1, unchangedCount: 0 });
  expect(await db.store.store([bare])).toEqual({ stored: 0, unchangedCount: 1 });
});

test('every event, function and error of every ABI is found by its selector', async () => {
  const wanted = new Map<string, string>();
  for (const { contract } of records) {
    const abi = new Interface(JSON.stringify(contract.abi));
    abi.forEachEvent(
      (event) => void (event.anonymous || wanted.set(event.topicHash, event.format('sighash'))),
    );
    abi.forEachFunction((each) => void wanted.set(each.selector, each.format('sighash')));
    abi.forEachError((each) => void wanted.set(each.selector, each.format('sighash')));
  }
  expect(wanted.size).toBeGreaterThan(300);
  const selectors = [...wanted.keys()] as Hex[];
  const found = new Map<string, string[]>();
  for (let from = 0; from < selectors.length; from += 1_000) {
    for (const { selector, signature } of await db.signatures.listBySelectors(
      selectors.slice(from, from + 1_000),
    ))
      found.set(selector, [...(found.get(selector) ?? []), signature]);
  }
  for (const [selector, signature] of wanted) {
    expect(found.get(selector)).toContain(
      // ABIs of libraries name contracts and enums as types, which have no canonical form. Then only the name of the
      // function must agree.
      found.get(selector)?.find((each) => each.startsWith(signature.slice(0, signature.indexOf('(')))) ??
        signature,
    );
  }
});

test('an event with several indexed layouts under one topic is decoded in each layout', async () => {
  const event = (indexed: boolean[]): VerifiedRecord['contract']['abi'][number] => ({
    type: 'event',
    name: 'Shaped_Event',
    inputs: indexed.map((each, index) => ({ name: `p${index}`, type: 'uint256', indexed: each })),
  });
  await db.store.store([
    like(token(), at('c'), { abi: [event([true, false])] }),
    like(token(), at('d'), { abi: [event([false, true])] }),
  ]);
  const topic = new Interface(['event Shaped_Event(uint256,uint256)']).getEvent('Shaped_Event')!
    .topicHash as Hex;
  const found = await db.signatures.listBySelectors([topic]);
  expect(found.map(({ entry }) => entry.inputs?.map((input) => input.indexed))).toEqual([
    [true, false],
    [false, true],
  ]);
});

test('signatures are found by prefix in any letter case, and the shortest comes first', async () => {
  const found = await db.signatures.listByPrefix('TRANSFER', 50);
  const all = records.flatMap(({ contract }) =>
    contract.abi.flatMap((entry) =>
      ['event', 'function', 'error'].includes(entry.type) &&
      entry.name?.toLowerCase().startsWith('transfer') === true
        ? [`${entry.type} ${entry.name}`]
        : [],
    ),
  );
  expect(new Set(found.map(({ kind, signature }) => `${kind} ${signature.replace(/\(.*/, '')}`))).toEqual(
    new Set(all),
  );
  const lengths = found.map(({ signature }) => signature.length);
  expect(lengths).toEqual([...lengths].sort((a, b) => a - b));
  expect(await db.signatures.listByPrefix('transfer', 1)).toHaveLength(1);
  expect(await db.signatures.listByPrefix('', 10)).toEqual([]);
});
