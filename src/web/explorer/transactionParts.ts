/** The parts of the page of a transaction: what it moved, its swaps, and its decoded input. */
import type { ActivityItem, SwapItem } from '../../wire/activity';
import { getAnswer } from '../core/api.ts';
import { pairPath, tokenPath } from '../core/app.ts';
import { button, h } from '../core/dom.ts';
import type { ContractRecord, LogEntry } from '../core/explorerAnswers.ts';
import { formatAmount, formatUsd, shortHex, symbolOf } from '../core/format.ts';
import { badge, copyButton } from '../core/pieces.ts';
import { scaledAmount } from '../list/scaledAmount.ts';
import type { DecodedCall } from './abiFunctions.ts';
import type { DecodedInput } from './contractReads.ts';
import { addressOf } from './links.ts';
import { shownPart, valueList } from './shownValue.ts';

/** Most rows of a list on the page. */
const ROWS_MAX = 100;
const TRANSFER = 'Transfer(address,address,uint256)';

interface Move {
  readonly token: string;
  readonly name: string;
  readonly from: string;
  readonly to: string;
  readonly amount: string;
}

/** The transfers of tokens in these logs. The amount of a token with unknown decimals is raw; an NFT has its id. */
export function movesOf(logs: readonly LogEntry[], contracts: ReadonlyMap<string, ContractRecord>): Move[] {
  return logs.flatMap(({ address, decoded }) => {
    if (decoded === null || decoded.signature !== TRANSFER) return [];
    const [from, to, moved] = decoded.args;
    if (typeof from?.value !== 'string' || typeof to?.value !== 'string' || typeof moved?.value !== 'string')
      return [];
    const record = contracts.get(address) ?? null;
    const scaled = record === null ? null : scaledAmount(TRANSFER, moved, record);
    // The symbol that follows the amount is part of the link.
    const amount = moved.indexed ? `id ${moved.value}` : (scaled?.split(' ')[0] ?? `${moved.value} raw`);
    return [{ token: address, name: nameOf(address, record), from: from.value, to: to.value, amount }];
  });
}

function nameOf(address: string, record: ContractRecord | null): string {
  if (record === null) return shortHex(address);
  return record.token?.symbol ?? (record.pair === null ? (record.name ?? shortHex(address)) : 'LP');
}

export function moveList(moves: readonly Move[], chain: string | null): HTMLElement {
  const rows = moves
    .slice(0, ROWS_MAX)
    .map(({ token, name, from, to, amount }) =>
      h(
        'li',
        {},
        h('b', { class: 'amount' }, h('bdi', {}, amount)),
        h(
          'a',
          { href: chain === null ? tokenPath(token) : `/contract/${token}?chainId=${chain}`, title: token },
          h('bdi', {}, name),
        ),
        copyButton(token),
        h('span', { class: 'way' }, h('span', { class: 'muted' }, 'from '), addressOf(from, chain)),
        h('span', { class: 'way' }, h('span', { class: 'muted' }, 'to '), addressOf(to, chain)),
      ),
    );
  return h('ul', { class: 'moves' }, ...rows, moreOf(moves.length));
}

function moreOf(count: number): HTMLElement | null {
  return count > ROWS_MAX ? h('li', { class: 'muted' }, `${count - ROWS_MAX} more`) : null;
}

/** Most pages of events that are read to find the swaps of one transaction. */
const PAGES_MAX = 3;
const PAGE = 100;

/** The swaps of the transaction with these logs, in the order of the chain. */
export async function findSwaps(
  hash: string,
  logs: readonly Pick<LogEntry, 'block_number' | 'log_index'>[],
  signal: AbortSignal,
): Promise<SwapItem[]> {
  const [first, last] = [logs[0], logs.at(-1)];
  if (first === undefined || last === undefined) return [];
  const found: SwapItem[] = [];
  let cursor: string | null = cursorAfter(last.block_number, last.log_index);
  for (let page = 0; page < PAGES_MAX && cursor !== null; page += 1) {
    const query = { event_type: 'swap', limit: PAGE, cursor };
    const answer: EventPage = await getAnswer<EventPage>('/activity', query, signal);
    found.push(
      ...answer.data.filter((item): item is SwapItem => item.event_type === 'swap' && item.tx_hash === hash),
    );
    const oldest = answer.data.at(-1);
    const isPast = oldest === undefined || oldest.block_number < first.block_number;
    cursor = isPast ? null : answer.meta.next_cursor;
  }
  return found.sort((a, b) => a.log_index - b.log_index);
}

interface EventPage {
  readonly data: readonly ActivityItem[];
  readonly meta: { readonly next_cursor: string | null };
}

/** The cursor of /activity whose page starts at this log, newest first. */
function cursorAfter(block: number, logIndex: number): string {
  return btoa(`${block}-${logIndex + 1}`)
    .replace(/\+/g, '-')
    .replace(/\//g, '_')
    .replace(/=+$/, '');
}

export function swapList(swaps: readonly SwapItem[]): HTMLElement {
  const rows = swaps.slice(0, ROWS_MAX).map((swap) => {
    const tokens = [swap.token0, swap.token1, swap.base_token];
    const named = (address: string): HTMLElement => {
      const token = tokens.find((one) => one.address === address) ?? { address, symbol: null };
      return h('a', { href: tokenPath(address) }, h('bdi', {}, symbolOf(token)));
    };
    return h(
      'li',
      {},
      h('b', { class: 'amount' }, formatAmount(swap.amount_in)),
      named(swap.token_in),
      h('span', { class: 'muted' }, '→'),
      h('b', { class: 'amount' }, formatAmount(swap.amount_out)),
      named(swap.token_out),
      h('span', { class: 'muted' }, formatUsd(swap.amount_usd)),
      h('span', { class: 'spring' }),
      badge(swap.dex_name),
      h(
        'a',
        { href: pairPath(swap.pair_address), class: 'pair-link', title: swap.pair_address },
        h('bdi', {}, `${symbolOf(swap.token0)}/${symbolOf(swap.token1)}`),
      ),
      copyButton(swap.pair_address),
    );
  });
  return h('ul', { class: 'moves' }, ...rows, moreOf(swaps.length));
}

/** The input of a transaction: the called function with its arguments, and the raw bytes. */
export function inputPart(input: string, call: DecodedInput | null, chain: string | null): HTMLElement {
  const raw = h('pre', { class: 'raw', hidden: call !== null }, wrapped(input));
  const toggle = button('Raw input', () => {
    raw.hidden = !raw.hidden;
  });
  const source =
    call === null
      ? 'No known ABI has this function'
      : call.isFromAbi
        ? 'Decoded by the ABI of the contract'
        : 'Decoded by a known signature, which may belong to another function';
  return h(
    'div',
    { class: 'tab-body call-input' },
    h('p', { class: 'muted' }, source),
    ...(call === null ? [] : callParts(call, chain)),
    ...(call?.inner ?? []).map((inner) => h('div', { class: 'inner-call' }, ...callParts(inner, chain))),
    h('p', {}, call === null ? null : toggle, ' ', copyButton(input), ` ${(input.length - 2) / 2} bytes`),
    raw,
  );
}

/** The signature of a call, and its arguments. */
function callParts({ signature, parts, values }: DecodedCall, chain: string | null): HTMLElement[] {
  const shown = parts.map((part, index) => shownPart(part, values[index] ?? ''));
  return [h('p', { class: 'mono call-name' }, h('bdi', {}, signature)), valueList(shown, chain)];
}

/** Longest raw input that is shown. The copy button has all of it. */
const RAW_MAX = 20_000;

/** The selector in the first line, and a word of 32 bytes in each further line. */
function wrapped(input: string): string {
  const shown = input.slice(0, RAW_MAX);
  const words = shown.slice(10).match(/.{1,64}/g) ?? [];
  return [shown.slice(0, 10), ...words, ...(input.length > RAW_MAX ? ['…'] : [])].join('\n');
}
