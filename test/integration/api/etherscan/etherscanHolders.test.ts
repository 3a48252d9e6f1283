/** Compares holders and supplies of tokens in the explorer dialects with a plain sum over every transfer. */
import { balanceChecksTable } from '../../../../src/clickhouse/schema/tables';
import { NO_CHECK } from '../../../../src/ingest/balances/balanceBook';
import { insertRows } from '../../../../src/clickhouse/rows/inserter';
import { formatUnits } from '../../../../src/domain/amounts';
import { ZERO_ADDRESS, type Hex } from '../../../../src/domain/hex';
import type { AccountState } from '../../../../src/domain/accountState';
import type { HeadSnapshot } from '../../../../src/query/head/headSnapshot';
import { createHolderLabels } from '../../../../src/query/holders/holderLabels';
import { readTotalSupply } from '../../../../src/query/tokens/totalSupply';
import { rememberState } from '../../../../src/query/head/rememberState';
import { explorerDeps, startExplorer, type ExplorerServer } from '../explorer/explorerServer';
import { notOk } from './etherscanWorld';
import { decimalsOf } from '../market/plainMarket';
import {
  DEAD,
  LIE,
  LOOSE,
  makeTransfers,
  movesOf,
  plainBalances,
  sentToZero,
  storeWallets,
  wholeSnapshot,
} from '../portfolio/transferWorld';
import { FIRST_BLOCK, hexOf } from '../../../support/worlds/world';
import { CHAIN } from '../../../support/server/apiServer';
import { UNCACHED } from '../../../support/server/uncached';
import { SEED } from '../../../support/run/seed';
import { makeMarketWorld, WALLETS_PLAN } from '../../../support/server/marketServer';
import type { TestStore } from '../../../support/engine/testStore';

const marketWorld = makeMarketWorld({ ...WALLETS_PLAN, seed: SEED });
const { world, finalTo: FINAL, tip: TIP } = marketWorld;
const moves = makeTransfers(world, SEED);
let head: HeadSnapshot;
let api: ExplorerServer;
let node: AccountState | null = null;
let store: TestStore;
beforeAll(async () => {
  process.stdout.write(`seed ${SEED}\n`);
  store = await storeWallets(marketWorld, moves);
  const labels = createHolderLabels(CHAIN)({ byAddress: new Map() });
  const deps = explorerDeps(store, () => head, {
    cache: UNCACHED,
    nodeOf: () => node,
    labelsOf: () => Promise.resolve(labels),
    keepsAtZero: (_chainId, _head, token) => Promise.resolve(lpTokensOf().includes(token)),
  });
  api = await startExplorer(deps, () => head);
});

afterAll(async () => {
  await api?.close();
  await store?.close();
});

const tokensOf = (): Hex[] => [...world.tokens.map(({ address }) => address), ...LOOSE, LIE];

const lpTokensOf = (): Hex[] =>
  world.blocks.flatMap(({ pools }) => pools.flatMap((pool) => (pool.pool_type === 2 ? [pool.address] : [])));

/** Addresses with a positive balance, largest first, ties by address. */
function sortHolders(balances: ReadonlyMap<string, bigint> = new Map()): [string, bigint][] {
  return [...balances]
    .filter(([holder, balance]) => balance > 0n && holder !== ZERO_ADDRESS)
    .sort(([a, x], [b, y]) => (x === y ? (a < b ? -1 : 1) : x > y ? -1 : 1));
}

/** The sum is null if the logs of the token do not add up. */
function sumSupply(balances: ReadonlyMap<string, bigint> | undefined): bigint | null {
  if (balances === undefined) return null;
  const zero = balances.get(ZERO_ADDRESS) ?? 0n;
  const below = [...balances].some(([holder, balance]) => holder !== ZERO_ADDRESS && balance < 0n);
  return below || zero > 0n ? null : -zero;
}

const plainHolders = (token: string): [string, bigint][] =>
  sortHolders(plainBalances(movesOf(moves, head)).get(token));
const plainSupply = (token: string): bigint | null =>
  sumSupply(plainBalances(movesOf(moves, head)).get(token));

const resultOf = async (query: Record<string, string>): Promise<unknown> =>
  (await api.ask(`/api?${new URLSearchParams(query).toString()}`)).json?.result;

test.each([
  ['some head blocks', FINAL, FINAL + 20],
  ['all head blocks', FINAL + 3, TIP],
  ['a cursor below the stored final blocks', FINAL - 5, FINAL + 30],
  ['no head blocks', FINAL + 15, FINAL + 15],
])('holders and their number equal the sums of the transfers: %s', async (_name, finalTo, tip) => {
  head = wholeSnapshot(world, finalTo, tip);
  const unknown = 'Error! Missing Or invalid Action name';
  let [seen, refused] = [0, 0];
  for (const token of tokensOf()) {
    const wanted = plainHolders(token).map(([holder, balance]) => ({
      TokenHolderAddress: holder,
      TokenHolderQuantity: String(balance),
    }));
    const asked = { module: 'token', contractaddress: token };
    expect(await resultOf({ ...asked, action: 'tokenholderlist' })).toEqual(wanted);
    const page = { page: '2', offset: '3' };
    expect(await resultOf({ ...asked, action: 'tokenholderlist', ...page })).toEqual(wanted.slice(3, 6));
    const count = plainSupply(token) === null && wanted.length > 0 ? unknown : String(wanted.length);
    expect(await resultOf({ ...asked, action: 'tokenholdercount' })).toBe(count);
    if (count === unknown) refused += 1;
    seen += wanted.length;
  }
  expect(seen).toBeGreaterThan(20);
  expect(refused).toBeGreaterThan(0);
});

test('/tokens/{address}/holders has all holders on its pages, with shares, and names known contracts', async () => {
  head = wholeSnapshot(world, FINAL, TIP);
  let [seen, unknown, named] = [0, 0, 0];
  for (const token of tokensOf()) {
    const all = plainHolders(token);
    const supply = plainSupply(token);
    const decimals = world.tokens.some(({ address }) => address === token) ? decimalsOf(world, token) : null;
    const isUnknown = supply === null && all.length > 0;
    const wanted = (isUnknown ? [] : all).map(([address, balance], index) => ({
      rank: index + 1,
      address,
      balance: decimals === null ? null : formatUnits(balance, decimals),
      balance_raw: String(balance),
      share_pct: expect.closeTo((Number(balance) / Number(supply)) * 100, 4),
      label: address === DEAD ? { kind: 'burn', name: 'Burn address' } : null,
    }));
    const pages = Math.max(1, Math.ceil(wanted.length / 4));
    for (let page = 1; page <= pages; page += 1) {
      const { status, json } = await api.get(`/tokens/${token}/holders?limit=4&page=${page}`);
      if (status === 404 && all.length === 0) continue;
      expect([token, json]).toEqual([
        token,
        {
          data: wanted.slice((page - 1) * 4, page * 4),
          meta: {
            ...{ page, limit: 4, total: wanted.length, total_pages: Math.ceil(wanted.length / 4) },
            ...{ has_next: page * 4 < wanted.length, as_of_block: TIP, as_of_timestamp: head.timestamp },
            reason: isUnknown ? 'unknown_balances' : null,
          },
        },
      ]);
    }
    seen += wanted.length;
    unknown += isUnknown ? 1 : 0;
    named += wanted.filter(({ label }) => label !== null).length;
  }
  expect(seen).toBeGreaterThan(20);
  expect(Math.min(unknown, named)).toBeGreaterThan(0);
  const token = tokensOf()[0]!;
  for (const query of ['page=101&limit=100', 'page=9007199254740991']) {
    const { status, json } = await api.get(`/tokens/${token}/holders?${query}`);
    expect([status, json]).toMatchObject([200, { data: [], meta: { has_next: false } }]);
  }
  for (const query of ['page=0', 'limit=101', 'page=many'])
    expect((await api.get(`/tokens/${token}/holders?${query}`)).status).toBe(400);
  for (const path of [`/tokens/${hexOf('99', 7, 40)}/holders`, `/tokens/${token}/holders?chainId=943`])
    expect((await api.get(path)).status).toBe(404);
});

test('holders at an earlier block equal the sums of the transfers up to it', async () => {
  let [seen, changed, kept] = [0, 0, 0];
  // Some head blocks, a cursor below the stored final blocks, and no head blocks.
  for (const [finalTo, tip] of [
    [FINAL, FINAL + 20],
    [FINAL - 5, FINAL + 30],
    [FINAL + 15, FINAL + 15],
  ] as const) {
    head = wholeSnapshot(world, finalTo, tip);
    const movesNow = movesOf(moves, head);
    const now = plainBalances(movesNow);
    const keptTokens = lpTokensOf().filter((token) => sentToZero(movesNow, token) > 0n);
    for (const block of [finalTo - 40, tip - 1]) {
      const movesUpTo = movesOf(moves, { ...head, number: block });
      const balances = plainBalances(movesUpTo);
      for (const token of [...tokensOf(), ...keptTokens]) {
        const all = sortHolders(balances.get(token));
        const logged = sumSupply(balances.get(token));
        const sent = keptTokens.includes(token) ? sentToZero(movesUpTo, token) : 0n;
        const supply = logged === null ? null : logged + sent;
        const isUnknown = supply === null && all.length > 0;
        const { status, json } = await api.get(`/tokens/${token}/holders?limit=100&block=${block}`);
        if (status === 404 && !now.has(token)) continue;
        const meta = json?.['meta'] as Record<string, unknown> | undefined;
        expect([token, block, meta?.['total'], meta?.['as_of_block'], meta?.['reason']]).toEqual([
          ...[token, block, isUnknown ? 0 : all.length],
          ...[block, isUnknown ? 'unknown_balances' : null],
        ]);
        const wanted = (isUnknown ? [] : all.slice(0, 100)).map(([address, balance]) => ({
          address,
          balance_raw: String(balance),
          share_pct: expect.closeTo((Number(balance) / Number(supply)) * 100, 4),
        }));
        expect(json?.['data']).toMatchObject(wanted);
        seen += wanted.length;
        changed += String(all) === String(sortHolders(now.get(token))) ? 0 : 1;
        kept += sent > 0n ? 1 : 0;
      }
    }
  }
  expect(Math.min(seen, changed)).toBeGreaterThan(10);
  expect(kept).toBeGreaterThan(0);
  const unknown = await api.get(`/tokens/${tokensOf()[0]!}/holders?block=${head.number + 1}`);
  const error = `block: got "${head.number + 1}"; allowed: an indexed block, from 1 to ${head.number}`;
  expect([unknown.status, unknown.json]).toMatchObject([400, { error }]);
});

test('a holder is named as a pair, a vault, a burn address, a treasury or a locker', () => {
  const [vault, pair, locker, treasury] = [1, 2, 3, 4].map((at) => hexOf('1a', at, 40));
  const find = createHolderLabels({
    burn: null,
    treasuries: [{ address: treasury!, label: 'Team' }],
    lockers: [{ address: locker!, label: 'Locks' }],
    dexes: [
      { displayName: 'Phux', protocol: 'balancer_v2', factory: vault! },
      { displayName: 'V2', protocol: 'uniswap_v2', factory: hexOf('1a', 5, 40) },
    ],
  })({ byAddress: new Map([[pair!, { tokens: { name: 'A / B' } }]]) });
  expect([vault, pair, DEAD, treasury, locker, hexOf('1a', 5, 40)].map((one) => find(one!))).toEqual([
    { kind: 'vault', name: 'Phux vault' },
    { kind: 'pair', name: 'A / B' },
    { kind: 'burn', name: 'Burn address' },
    { kind: 'treasury', name: 'Team' },
    { kind: 'locker', name: 'Locks' },
    null,
  ]);
});

test('a page of holders can have up to 10,000 entries', async () => {
  head = wholeSnapshot(world, FINAL, TIP);
  const token = hexOf('c7', 1, 40);
  await store.db.command(
    'load holders',
    `INSERT INTO transfers SELECT ${FIRST_BLOCK} * 1048576 + 900000 + number, 1, unhex('${token.slice(2)}'), unhex(repeat('00', 20)),
       unhex(leftPad(hex(toUInt32(number + 1)), 40, 'd')), 5000 - number, 'transfer', 0 FROM numbers(1500)`,
  );
  const asked = { module: 'token', action: 'tokenholderlist', contractaddress: token, page: '1' };
  expect(await resultOf({ ...asked, offset: '10000' })).toHaveLength(1_500);
  expect(await resultOf({ ...asked, offset: '1400' })).toHaveLength(1_400);
  expect(await resultOf({ ...asked, page: '2', offset: '1400' })).toHaveLength(100);
});

test('the total supply comes from the node, otherwise from the transfers, otherwise it is null', async () => {
  head = wholeSnapshot(world, FINAL, TIP);
  const said = 123_456_789n;
  let [known, told] = [0, 0];
  for (const { address: token } of world.tokens) {
    const wanted = plainSupply(token);
    const decimals = decimalsOf(world, token);
    for (const away of [true, false]) {
      node = away ? null : answering(said);
      const { status, json } = await api.ask(`/api/v1/contracts/${token}`);
      if (status === 404) continue;
      const shown = (json!['data'] as { token: { total_supply: string | null } | null }).token;
      if (shown === null) continue;
      const supply = away ? wanted : said;
      expect([token, shown.total_supply]).toEqual([
        token,
        supply === null ? null : formatUnits(supply, decimals),
      ]);
      if (away && wanted !== null) known += 1;
      else if (!away) told += 1;
    }
  }
  node = null;
  expect(known).toBeGreaterThan(2);
  expect(told).toBeGreaterThan(0);
});

/** A node that returns this supply for every token. */
const answering = (supply: bigint): AccountState => ({
  ask: (_hash, questions) =>
    Promise.resolve(questions.map((): Hex => `0x${supply.toString(16).padStart(64, '0')}`)),
  lacks: () => false,
});

function supplyBy(token: Hex, asked: AccountState | null, patienceMs?: number): Promise<bigint | null> {
  const patience = patienceMs === undefined ? {} : { patienceMs };
  return readTotalSupply({ runner: store.runner }, head!, token, {
    node: asked,
    marketSupply: null,
    ...patience,
  });
}

test('a token of the market has the supply that the market shows, whatever the node says', async () => {
  head = wholeSnapshot(world, FINAL, TIP);
  const token = tokensOf().find((each) => plainSupply(each) !== null && plainSupply(each) !== 0n)!;
  const deps = { node: answering(7n), marketSupply: 12_345n };
  expect(await readTotalSupply({ runner: store.runner }, head, token, deps)).toBe(12_345n);
  expect(await supplyBy(token, null)).toBe(plainSupply(token));
});

test('the supply of a rebasing token is not derived from its transfers', async () => {
  head = wholeSnapshot(world, FINAL, TIP);
  const token = tokensOf().find((each) => plainSupply(each) !== null && plainSupply(each) !== 0n)!;
  expect(await supplyBy(token, null)).toBe(plainSupply(token));
  const check = { ...NO_CHECK, token, rebasing: true, version: 1 };
  await insertRows(store.db, balanceChecksTable, [check]);
  expect(await supplyBy(token, null)).toBeNull();
  expect(await supplyBy(token, answering(7n))).toBe(7n);
});

test('holders are refused if the history is incomplete, and the supply then comes from the node', async () => {
  head = { ...wholeSnapshot(world, FINAL, TIP), startBlock: FIRST_BLOCK };
  const token = LOOSE[0]!;
  const refused = notOk('Error! Missing Or invalid Action name');
  for (const action of ['tokenholderlist', 'tokenholdercount'])
    expect((await api.ask(`/api?module=token&action=${action}&contractaddress=${token}`)).json).toEqual(
      refused,
    );
  expect(await supplyBy(token, null)).toBeNull();
  expect(await supplyBy(token, answering(9n))).toBe(9n);
});

test("a request does not wait for a slow node, and the node's late answer serves the next request", async () => {
  head = { ...wholeSnapshot(world, FINAL, TIP), startBlock: FIRST_BLOCK };
  const token = LOOSE[0]!;
  let tell: () => void = () => undefined;
  const told = new Promise<void>((resolve) => (tell = resolve));
  const slow = rememberState({
    async ask(hash, questions) {
      await told;
      return answering(5n).ask(hash, questions);
    },
    lacks: () => false,
  });
  expect(await supplyBy(token, slow, 1)).toBeNull();
  tell();
  expect(await supplyBy(token, slow)).toBe(5n);
  expect(await supplyBy(token, slow, 1_000)).toBe(5n);
});

test('the node gets each question once per block, and a missing answer is not remembered', async () => {
  let [askings, away] = [0, true];
  const inner: AccountState = {
    ask(_hash, questions) {
      askings += 1;
      return Promise.resolve(away ? null : questions.map(() => hexOf('00', askings, 64)));
    },
    lacks: () => false,
  };
  const remembering = rememberState(inner);
  const question = { kind: 'coin', address: LIE } as const;
  const other = { kind: 'coin', address: ZERO_ADDRESS } as const;
  const [one, two] = [hexOf('b1', 1, 64), hexOf('b1', 2, 64)];
  expect(await remembering.ask(one, [question])).toBeNull();
  away = false;
  const first = await remembering.ask(one, [question]);
  expect(await remembering.ask(one, [question])).toEqual(first);
  expect(askings).toBe(2);
  expect(await remembering.ask(two, [question])).not.toEqual(first);
  expect(await remembering.ask(one, [question, other])).not.toEqual(first);
  expect(askings).toBe(4);
});
