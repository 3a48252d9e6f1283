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
import type { NodeTransaction } from './nodeAnswers.ts';
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
  /** The moved amount in raw units, and a function that formats such amounts; null for an NFT. */
  readonly fungible: { readonly raw: bigint; readonly formatRaw: (raw: bigint) => string } | null;
}

/** The transfers of tokens in these logs. The amount of a token with unknown decimals is raw; an NFT has its id. */
export function movesOf(logs: readonly LogEntry[], contracts: ReadonlyMap<string, ContractRecord>): Move[] {
  return logs.flatMap(({ address, decoded }) => {
    if (decoded === null || decoded.signature !== TRANSFER) return [];
    const [from, to, movedArg] = decoded.args;
    if (
      typeof from?.value !== 'string' ||
      typeof to?.value !== 'string' ||
      typeof movedArg?.value !== 'string'
    )
      return [];
    const record = contracts.get(address) ?? null;
    // The symbol that follows the amount is part of the link.
    const formatRaw = (raw: bigint): string => {
      const scaled = record && scaledAmount(TRANSFER, { ...movedArg, value: String(raw) }, record);
      return scaled?.split(' ')[0] ?? `${String(raw)} raw`;
    };
    const fungible = movedArg.indexed ? null : { raw: BigInt(movedArg.value), formatRaw };
    const amount = fungible === null ? `id ${movedArg.value}` : formatRaw(fungible.raw);
    return [
      {
        token: address,
        name: nameOf(address, record),
        from: from.value,
        to: to.value,
        amount,
        fungible,
      },
    ];
  });
}

function nameOf(address: string, record: ContractRecord | null): string {
  if (record === null) return shortHex(address);
  return record.token?.symbol ?? (record.pair === null ? (record.name ?? shortHex(address)) : 'LP');
}

function tokenLink({ token, name }: Move, chain: string | null): HTMLElement {
  const href = chain === null ? tokenPath(token) : `/contract/${token}?chainId=${chain}`;
  return h('span', {}, h('a', { href, title: token }, h('bdi', {}, name)), copyButton(token));
}

export function moveList(moves: readonly Move[], chain: string | null): HTMLElement {
  const rows = moves
    .slice(0, ROWS_MAX)
    .map((move) =>
      h(
        'li',
        {},
        h('b', { class: 'amount' }, h('bdi', {}, move.amount)),
        tokenLink(move, chain),
        h('span', { class: 'way' }, h('span', { class: 'muted' }, 'from '), addressOf(move.from, chain)),
        h('span', { class: 'way' }, h('span', { class: 'muted' }, 'to '), addressOf(move.to, chain)),
      ),
    );
  return h('ul', { class: 'moves' }, ...rows, moreItem(moves.length));
}

/** How much of each token an address has got or given in the whole transaction. */
interface Change {
  readonly address: string;
  readonly tokens: readonly { readonly move: Move; readonly amount: string }[];
}

/** The changes by address, in the order of the moves. Tokens that come and go in equal amounts are left out. */
export function changesOf(moves: readonly Move[]): Change[] {
  const tokensByAddress = new Map<string, Map<string, { move: Move; raw: bigint }>>();
  for (const move of moves) {
    const rawAmount = move.fungible?.raw ?? 0n;
    for (const [address, rawChange] of [
      [move.from, -rawAmount],
      [move.to, rawAmount],
    ] as const) {
      const tokens = tokensByAddress.get(address) ?? new Map<string, { move: Move; raw: bigint }>();
      tokensByAddress.set(
        address,
        tokens.set(move.token, { move, raw: (tokens.get(move.token)?.raw ?? 0n) + rawChange }),
      );
    }
  }
  return [...tokensByAddress].flatMap(([address, tokens]) => {
    const changedTokens = [...tokens.values()].flatMap(({ move, raw }) => {
      const { fungible } = move;
      return fungible === null || raw === 0n
        ? []
        : [{ move, amount: `${raw > 0n ? '+' : ''}${fungible.formatRaw(raw)}` }];
    });
    return changedTokens.length === 0 ? [] : [{ address, tokens: changedTokens }];
  });
}

export function changeList(changes: readonly Change[], chain: string | null): HTMLElement {
  const rows = changes
    .slice(0, ROWS_MAX)
    .map(({ address, tokens }) =>
      h(
        'li',
        { 'data-address': address },
        addressOf(address, chain),
        ...tokens.map(({ move, amount }) =>
          h('span', {}, h('b', { class: 'amount' }, h('bdi', {}, amount)), ' ', tokenLink(move, chain)),
        ),
      ),
    );
  return h('ul', { class: 'moves changes-by-address' }, ...rows, moreItem(changes.length));
}

function moreItem(count: number): HTMLElement | null {
  return count > ROWS_MAX ? h('li', { class: 'muted' }, `${count - ROWS_MAX} more`) : null;
}

/** Most pages of events that are read to find the swaps of one transaction. */
const PAGES_MAX = 3;
const PAGE_EVENTS = 100;

/** The swaps of the transaction with these logs, in the order of the chain. */
export async function findSwaps(
  hash: string,
  logs: readonly Pick<LogEntry, 'block_number' | 'log_index'>[],
  signal: AbortSignal,
): Promise<SwapItem[]> {
  const [firstLog, lastLog] = [logs[0], logs.at(-1)];
  if (firstLog === undefined || lastLog === undefined) return [];
  const swaps: SwapItem[] = [];
  let cursor: string | null = cursorAfter(lastLog.block_number, lastLog.log_index);
  for (let page = 0; page < PAGES_MAX && cursor !== null; page += 1) {
    const query = { event_type: 'swap', limit: PAGE_EVENTS, cursor };
    const answer: EventPage = await getAnswer<EventPage>('/activity', query, signal);
    swaps.push(
      ...answer.data.filter((item): item is SwapItem => item.event_type === 'swap' && item.tx_hash === hash),
    );
    const oldestItem = answer.data.at(-1);
    const isBeforeFirstLog = oldestItem === undefined || oldestItem.block_number < firstLog.block_number;
    cursor = isBeforeFirstLog ? null : answer.meta.next_cursor;
  }
  return swaps.sort((a, b) => a.log_index - b.log_index);
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
    const swapTokenLink = (address: string): HTMLElement => {
      const token = tokens.find((token) => token.address === address) ?? { address, symbol: null };
      return h('a', { href: tokenPath(address) }, h('bdi', {}, symbolOf(token)));
    };
    return h(
      'li',
      {},
      h('b', { class: 'amount' }, formatAmount(swap.amount_in)),
      swapTokenLink(swap.token_in),
      h('span', { class: 'muted' }, '→'),
      h('b', { class: 'amount' }, formatAmount(swap.amount_out)),
      swapTokenLink(swap.token_out),
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
  return h('ul', { class: 'moves' }, ...rows, moreItem(swaps.length));
}

/** 0x and the eight hex digits of a selector. */
const SELECTOR_LENGTH = 10;

/** The input of a transaction: the called function with its arguments, and the raw bytes. */
export function inputPart(
  { input, to }: Pick<NodeTransaction, 'input' | 'to'>,
  call: DecodedInput | null,
  chain: string | null,
): HTMLElement {
  const rawInput = h('pre', { class: 'raw', hidden: call !== null }, wrapInput(input));
  const rawButton = button('Raw input', () => {
    rawInput.hidden = !rawInput.hidden;
  });
  const sourceText =
    call === null
      ? to === null
        ? 'The code of the contract and of its constructor, with the arguments'
        : input.length < SELECTOR_LENGTH
          ? 'The input is too short to name a function'
          : 'No known ABI has this function'
      : call.isFromAbi
        ? 'Decoded by the ABI of the contract'
        : 'Decoded by a known signature, which may belong to another function';
  return h(
    'div',
    { class: 'tab-body call-input' },
    h('p', { class: 'muted' }, sourceText),
    ...(call === null ? [] : callParts(call, chain)),
    ...(call?.inner ?? []).map((innerCall) =>
      h('div', { class: 'inner-call' }, ...callParts(innerCall, chain)),
    ),
    h('p', {}, call === null ? null : rawButton, ' ', copyButton(input), ` ${(input.length - 2) / 2} bytes`),
    rawInput,
  );
}

/** The signature of a call, and its arguments. */
function callParts({ signature, parts, values }: DecodedCall, chain: string | null): HTMLElement[] {
  const shownParts = parts.map((part, index) => shownPart(part, values[index] ?? ''));
  return [h('p', { class: 'mono call-name' }, h('bdi', {}, signature)), valueList(shownParts, chain)];
}

/** Longest raw input that is shown. The copy button has all of it. */
const RAW_MAX = 20_000;

/** The selector in the first line, and a word of 32 bytes in each further line. */
function wrapInput(input: string): string {
  const shownInput = input.slice(0, RAW_MAX);
  const words = shownInput.slice(10).match(/.{1,64}/g) ?? [];
  return [shownInput.slice(0, 10), ...words, ...(input.length > RAW_MAX ? ['…'] : [])].join('\n');
}
