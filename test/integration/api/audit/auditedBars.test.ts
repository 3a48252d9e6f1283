/**
 * Recomputes the bars of tokens from the swaps and the audits of their blocks: prices come only from pools
 * that the audit uses in the first hop, volume from every tracked swap.
 */
import type { Hex } from '../../../../src/domain/hex';
import { blockOfOrd } from '../../../../src/domain/ord';
import type { HeadSnapshot } from '../../../../src/query/head/headSnapshot';
import { readHead } from '../../../../src/query/head/headState';
import { auditAnswerShape, type Audit } from '../../../../src/wire/audit';
import { tokenTicksAnswerShape } from '../../../../src/wire/tokens';
import { askRows } from '../../../support/engine/askRows';
import { openTestStore, type TestStore } from '../../../support/engine/testStore';
import { startApi, type ApiServer } from '../../../support/server/apiServer';
import { headerOf } from '../../../simulation/chain/simNode';
import { AuditChain, TOKENS } from './auditChain';
import { AUDIT_CHAIN, openAuditSession } from './auditWorld';

const SEED = 4_243;
const BLOCKS = 150;
const DEPTH = 20;
const MINUTE = 60;
/** Warnings of an audit that uses another price for a pool than its spot price. */
const HELD = ['price_deviates_from_twap', 'spot_held_to_mean'];

interface SwapRead {
  readonly ord: string;
  readonly timestamp: number;
  readonly pair: Hex;
  readonly token0: Hex;
  readonly token1: Hex;
  readonly usd0: number;
  readonly usd1: number;
  readonly amount_usd: number;
  readonly counts: number;
}

let store: TestStore;
let api: ApiServer;
let head: HeadSnapshot;
let swaps: readonly SwapRead[];
const audits = new Map<string, Audit>();

beforeAll(async () => {
  store = await openTestStore();
  const chain = new AuditChain(SEED);
  chain.mine(BLOCKS);
  const session = await openAuditSession(chain, store.db, DEPTH);
  api = await startApi(store.runner, () => head, { chain: AUDIT_CHAIN });
  await session.advanceTo(headerOf(chain.head));
  await session.promoted();
  head = (await readHead(store.runner, AUDIT_CHAIN.chainId))!;
  expect(head.blocks.length).toBeGreaterThan(5);
  swaps = await listSwaps();
});

afterAll(async () => {
  await api?.close();
  await store?.close();
});

function listSwaps(): Promise<readonly SwapRead[]> {
  const columns = `ord, timestamp, concat('0x', lower(hex(s.pair))) AS pair, concat('0x', lower(hex(s.token0))) AS token0,
    concat('0x', lower(hex(s.token1))) AS token1, if(base_is_token0, price_usd, quote_price_usd) AS usd0,
    if(base_is_token0, quote_price_usd, price_usd) AS usd1, toFloat64(amount_usd) AS amount_usd, price_counts AS counts`;
  return askRows<SwapRead>(
    store.db,
    `SELECT * FROM (
       SELECT ${columns} FROM swaps AS s WHERE tracked
       UNION ALL SELECT ${columns} FROM swaps_head AS s WHERE tracked AND has({commits:Array(UInt64)}, commit)
     ) AS every ORDER BY every.ord`,
    { commits: head.blocks.map(({ commit }) => commit) },
  );
}

async function auditOf(token: Hex, block: number): Promise<Audit> {
  const key = `${token} ${block}`;
  const known = audits.get(key);
  if (known !== undefined) return known;
  const { text } = await api.get(`/api/v1/tokens/${token}/audit?block=${block}`);
  const { data } = auditAnswerShape.parse(JSON.parse(text));
  audits.set(key, data);
  return data;
}

interface Side {
  readonly timestamp: number;
  /** USD price of the swap; 0 if bars do not use this price. */
  readonly usd: number;
  readonly volumeUsd: number;
}

const met = { counted: 0, left: 0 };

/**
 * The tracked swaps of a token. A swap has a price only if the token's audit at this block uses the pool in its first
 * hop.
 */
async function sidesOf(token: Hex): Promise<Side[]> {
  const sides: Side[] = [];
  for (const swap of swaps) {
    if (swap.token0 !== token && swap.token1 !== token) continue;
    const audit = await auditOf(token, blockOfOrd(Number(swap.ord)));
    const usd = swap.token0 === token ? swap.usd0 : swap.usd1;
    const bars = swap.token0 === token ? 1 : 2;
    const isCounted = audit.hops[0]?.pools.some(({ address }) => address === swap.pair) === true;
    const stored = Math.floor(swap.counts / bars) % 2 === 1;
    if (!isCounted) expect([swap.ord, stored]).toEqual([swap.ord, false]);
    const isHeld = audit.warnings.some(({ code }) => HELD.includes(code));
    const counts = isHeld ? stored : isCounted;
    if (usd > 0) met[counts ? 'counted' : 'left'] += 1;
    sides.push({ timestamp: swap.timestamp, usd: counts ? usd : 0, volumeUsd: swap.amount_usd });
  }
  return sides;
}

test('bars of a token take prices only from pools that the audit of the block uses', async () => {
  const anchors = AUDIT_CHAIN.anchors.map(({ address }) => address);
  for (const { address } of Object.values(TOKENS)) {
    if (anchors.includes(address)) continue;
    const sides = await sidesOf(address);
    const answer = await api.get(`/api/v1/tokens/${address}/ticks?timeframe=1m&limit=1000`);
    if (answer.status === 404) continue;
    const { data } = tokenTicksAnswerShape.parse(JSON.parse(answer.text));
    const times = [...new Set(sides.filter(({ usd }) => usd > 0).map(({ timestamp }) => slotOf(timestamp)))];
    expect(data.map(({ time }) => time)).toEqual(times);
    for (const bar of data) {
      const own = sides.filter(({ timestamp }) => slotOf(timestamp) === bar.time);
      const prices = own.map(({ usd }) => usd).filter((usd) => usd > 0);
      const { open, high, low, close, trades } = bar;
      expect([open, high, low, close, trades]).toEqual([
        prices[0],
        Math.max(...prices),
        Math.min(...prices),
        prices.at(-1),
        own.length,
      ]);
      expect(bar.volume_usd).toBeCloseTo(
        own.reduce((sum, { volumeUsd }) => sum + volumeUsd, 0),
        6,
      );
    }
  }
  expect(met.counted).toBeGreaterThan(50);
  expect(met.left).toBeGreaterThan(20);
});

function slotOf(timestamp: number): number {
  return timestamp - (timestamp % MINUTE);
}
