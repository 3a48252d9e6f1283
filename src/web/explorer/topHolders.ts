/** The holders of a token: the shares of groups of holders, and the largest holders one by one. */
import type { PairItem } from '../../wire/pairs';
import type { TokenDetail } from '../../wire/tokens';
import { API, ApiFailure, getAnswer, getBody, urlOf } from '../core/api.ts';
import { addressPath, pairPath } from '../core/app.ts';
import { h, unseen } from '../core/dom.ts';
import { formatShare, shortHex, symbolOf } from '../core/format.ts';
import { emptyNotice, loaded, skeleton, type Loaded } from '../core/panel.ts';
import { badge, copyButton } from '../core/pieces.ts';
import { formatUnits } from './units.ts';

const PARTS = [
  ['top_10', 'Top 10'],
  ['top_11_20', '11–20'],
  ['top_21_40', '21–40'],
  ['rest', 'Others'],
] as const;

export function holderBar(distribution: NonNullable<TokenDetail['holder_distribution']>): HTMLElement {
  const bar = h('div', { class: 'holder-bar', 'aria-hidden': 'true' });
  PARTS.forEach(([key], index) => {
    const part = h('i', { class: `series-${index}` });
    part.style.flexGrow = String(distribution[key]);
    bar.append(part);
  });
  const names = PARTS.map(([key, name], index) =>
    h(
      'span',
      {},
      h('i', { class: `series-${index}` }),
      `${name} `,
      h('b', {}, formatShare(distribution[key])),
    ),
  );
  return h('div', { class: 'holders' }, bar, h('div', { class: 'share-legend' }, ...names));
}

const ROWS = 20;

interface Holder {
  readonly address: string;
  readonly balance: bigint;
}

/** The largest holders of the token as a card, with the names of pools, burn addresses and lockers. */
export function topHolders(token: TokenDetail, signal: AbortSignal): Loaded {
  return loaded({
    load: async (life) => {
      const [holders, pools] = await Promise.all([
        listHolders(token.address, life),
        getAnswer<{ data: readonly PairItem[] }>(`/tokens/${token.address}/pools`, { limit: 100 }, life),
      ]);
      return { holders, pools: pools.data };
    },
    render: ({ holders, pools }) =>
      h(
        'section',
        { class: 'card list-card top-holders' },
        h('div', { class: 'card-bar' }, h('h2', {}, 'Top holders')),
        holders === null
          ? emptyNotice(
              'The holders are unknown: the stored transfers do not start at the first one, or transfers of this token change no balances',
            )
          : holderTable(token, holders, pools),
      ),
    skeleton: () => h('section', { class: 'card list-card' }, skeleton(300, 8)),
    signal,
  });
}

/** The largest holders from the Etherscan dialect; null if the service refuses, because it does not count the holders of this token. */
async function listHolders(token: string, signal: AbortSignal): Promise<Holder[] | null> {
  const asked = { module: 'token', action: 'tokenholderlist', contractaddress: token, page: 1, offset: ROWS };
  const body = await getBody(urlOf(`${API}/etherscan`, asked), signal);
  if (typeof body !== 'object' || body === null || !('result' in body))
    throw new ApiFailure(200, 'unreadable', 'The answer has no result');
  const { result } = body;
  if (Array.isArray(result)) return result.flatMap(readHolder);
  if (/Missing Or invalid Action/.test(String(result))) return null;
  throw new ApiFailure(503, 'unavailable', String(result));
}

function readHolder(given: unknown): Holder[] {
  if (typeof given !== 'object' || given === null) return [];
  const { TokenHolderAddress: address, TokenHolderQuantity: balance }: Record<string, unknown> = { ...given };
  const isRight = typeof address === 'string' && typeof balance === 'string' && /^\d+$/.test(balance);
  return isRight ? [{ address, balance: BigInt(balance) }] : [];
}

function holderTable(
  token: TokenDetail,
  holders: readonly Holder[],
  pools: readonly PairItem[],
): HTMLElement {
  if (holders.length === 0) return emptyNotice('No address holds this token');
  const supply = token.total_supply === null ? null : rawOf(token.total_supply, token.decimals ?? 0);
  const rows = holders.map(({ address, balance }, index) => {
    const pool = pools.find((one) => one.address === address);
    const label = token.circulating_supply_excludes.find((one) => one.address === address)?.label ?? null;
    const name =
      pool === undefined ? label : `${symbolOf(pool.base_token)}/${symbolOf(pool.quote_token)} pool`;
    const href = pool === undefined ? addressPath(address) : pairPath(address);
    return h(
      'tr',
      { 'data-address': address },
      h('td', { class: 'muted' }, String(index + 1)),
      h(
        'td',
        {},
        h('a', { href, class: 'mono', title: address }, shortHex(address)),
        copyButton(address),
        name !== null && h('span', {}, ' ', badge(name)),
      ),
      h(
        'td',
        { class: 'right' },
        token.decimals === null ? `${String(balance)} raw` : formatUnits(balance, token.decimals),
      ),
      h('td', { class: 'right' }, formatShare(shareOf(balance, supply))),
    );
  });
  const names = [unseen('Rank'), 'Holder', 'Amount', 'Share'];
  return h(
    'div',
    { class: 'table-scroll', tabindex: '0' },
    h(
      'table',
      { class: 'plain' },
      h(
        'thead',
        {},
        h('tr', {}, ...names.map((name, index) => h('th', { class: index > 1 ? 'right' : null }, name))),
      ),
      h('tbody', {}, ...rows),
    ),
  );
}

/** Share in percent; null if the supply is unknown. */
function shareOf(balance: bigint, supply: bigint | null): number | null {
  if (supply === null || supply <= 0n) return null;
  return Number((balance * 100_000_000n) / supply) / 1_000_000;
}

/** A decimal string in raw units. */
function rawOf(text: string, decimals: number): bigint {
  const [whole = '0', rest = ''] = text.split('.');
  return BigInt(whole + rest.slice(0, decimals).padEnd(decimals, '0'));
}
