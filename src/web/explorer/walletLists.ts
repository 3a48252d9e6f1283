/** What belongs to a wallet besides its holdings: its trades, its transfers, and the contract that acts for it. */
import type { ActivityEntry, ActivityItem } from '../../wire/activity';
import { apiBase, ApiFailure, getAnswer, getBody, urlOf } from '../core/api.ts';
import { tokenPath } from '../core/app.ts';
import { h } from '../core/dom.ts';
import { formatAmount, formatUsd, shortHex, symbolOf } from '../core/format.ts';
import { emptyNotice } from '../core/panel.ts';
import { ago, badge, copyButton } from '../core/pieces.ts';
import { pairLink } from '../list/tape.ts';
import { addressOf, transactionOf } from './links.ts';
import { pagedList } from './pagedList.ts';
import { formatUnits } from './units.ts';

const PAGE_ROWS = 25;

/** A note that a contract acts for the account (EIP-7702). */
export function delegateNote(delegate: string, chain: string | null): HTMLElement {
  return h(
    'p',
    { class: 'delegate' },
    badge('delegated code', 'accent'),
    ' This account runs the code of ',
    addressOf(delegate, chain),
    ' (EIP-7702)',
  );
}

interface ActivityPage {
  readonly data: readonly ActivityEntry[];
  readonly meta: { readonly next_cursor: string | null; readonly total: number };
}

/** The swaps, mints and burns of transactions from this wallet, newest first. */
export function walletActivity(wallet: string, signal: AbortSignal): HTMLElement {
  return pagedList({
    load: (cursor, loadSignal) => {
      const query = { maker: wallet, event_type: 'swap,mint,burn', limit: PAGE_ROWS, cursor };
      return getAnswer<ActivityPage>('/activity', query, loadSignal);
    },
    render: ({ data, meta }) => {
      const items = data.filter((item): item is ActivityItem => item.event_type !== 'undecodable');
      const titles = ['Time', 'Type', 'Amounts', 'USD', 'Pair', 'Transaction'];
      return {
        element:
          items.length === 0
            ? emptyNotice('No trades of this wallet')
            : table(titles, items.map(activityRow)),
        nextCursor: meta.next_cursor,
        rangeText: '',
      };
    },
    names: ['Newer trades', 'Older trades'],
    signal,
  }).element;
}

function activityRow(item: ActivityItem): HTMLElement {
  return h(
    'tr',
    { 'data-id': item.id },
    h('td', {}, ago(item.timestamp)),
    h('td', {}, item.event_type),
    h('td', {}, h('bdi', {}, amountsOf(item))),
    h('td', {}, formatUsd(item.amount_usd)),
    h('td', {}, pairLink(item)),
    h('td', { class: 'right' }, transactionOf(item.tx_hash, null)),
  );
}

/** `3 WPLS → 2 DAI` for a swap, `3 WPLS + 2 DAI` for liquidity. */
function amountsOf(item: ActivityItem): string {
  const tokens = [item.token0, item.token1, item.base_token];
  const symbol = (address: string): string =>
    symbolOf(tokens.find((token) => token.address === address) ?? { address, symbol: null });
  if (item.event_type === 'swap')
    return `${formatAmount(item.amount_in)} ${symbol(item.token_in)} → ${formatAmount(item.amount_out)} ${symbol(item.token_out)}`;
  if (item.event_type === 'sync') return '';
  return `${formatAmount(item.amount0)} ${symbolOf(item.token0)} + ${formatAmount(item.amount1)} ${symbolOf(item.token1)}`;
}

/** A transfer of the Etherscan dialect, whose fields are texts. */
type Transfer = Readonly<Record<string, string | undefined>>;

/** The ERC-20 transfers from and to this wallet, newest first. */
export function walletTransfers(wallet: string, signal: AbortSignal): HTMLElement {
  return pagedList({
    load: async (cursor, loadSignal) => {
      const page = cursor ?? '1';
      return { page, transfers: await listTransfers(wallet, page, loadSignal) };
    },
    render: ({ page, transfers }) => ({
      element:
        transfers.length === 0
          ? emptyNotice('No transfers of this wallet')
          : table(
              ['Time', 'Direction', 'Amount', 'Token', 'From or to', 'Transaction'],
              transfers.map((transfer) => transferRow(transfer, wallet)),
            ),
      nextCursor: transfers.length < PAGE_ROWS || Number(page) >= PAGES_MAX ? null : String(Number(page) + 1),
      rangeText: '',
    }),
    names: ['Newer transfers', 'Older transfers'],
    signal,
  }).element;
}

/** The dialect reaches 10,000 transfers. */
const PAGES_MAX = 10_000 / PAGE_ROWS;

async function listTransfers(wallet: string, page: string, signal: AbortSignal): Promise<Transfer[]> {
  const params = {
    module: 'account',
    action: 'tokentx',
    address: wallet,
    sort: 'desc',
    offset: PAGE_ROWS,
    page,
  };
  const body = await getBody(urlOf(`${apiBase()}/etherscan`, params), signal);
  const result = typeof body === 'object' && body !== null && 'result' in body ? body.result : null;
  if (!Array.isArray(result)) throw new ApiFailure(404, 'no_transfers', String(result));
  return result.filter((transfer): transfer is Transfer => typeof transfer === 'object' && transfer !== null);
}

function transferRow(transfer: Transfer, wallet: string): HTMLElement {
  const { from = '', to = '', value = '0', contractAddress: token = '', hash = '' } = transfer;
  const decimals = transfer['tokenDecimal'] ?? '';
  const isIncoming = to === wallet;
  const amount = decimals === '' ? `${value} raw` : formatUnits(BigInt(value), Number(decimals));
  return h(
    'tr',
    {},
    h('td', {}, ago(Number(transfer['timeStamp']))),
    h('td', {}, from === to ? 'self' : isIncoming ? 'in' : 'out'),
    h('td', { title: amount }, h('bdi', {}, amount)),
    h(
      'td',
      {},
      h(
        'a',
        { href: tokenPath(token), title: token },
        h('bdi', {}, transfer['tokenSymbol'] || shortHex(token)),
      ),
      copyButton(token),
    ),
    h('td', {}, addressOf(isIncoming ? from : to, null)),
    h('td', { class: 'right' }, transactionOf(hash, null)),
  );
}

function table(titles: readonly string[], rows: readonly HTMLElement[]): HTMLElement {
  return h(
    'div',
    { class: 'table-scroll', tabindex: '0' },
    h(
      'table',
      { class: 'plain' },
      h('thead', {}, h('tr', {}, ...titles.map((name) => h('th', {}, name)))),
      h('tbody', {}, ...rows),
    ),
  );
}
