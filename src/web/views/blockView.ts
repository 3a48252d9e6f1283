/** The page of one block: its header, its neighbours and its transactions. */
import { ApiFailure, getAnswer } from '../core/api.ts';
import { blockPath, type View } from '../core/app.ts';
import { button, h } from '../core/dom.ts';
import type { ListAnswer, SearchHit } from '../core/explorerAnswers.ts';
import { formatCount, formatTime } from '../core/format.ts';
import { emptyNotice, loaded, skeleton } from '../core/panel.ts';
import { ago, badge, fact, facts } from '../core/pieces.ts';
import { getNativeSymbol } from '../explorer/contractReads.ts';
import { addressOf, blockByHash, copyable, logsPath, transactionOf } from '../explorer/links.ts';
import {
  getNodeBlock,
  getSignatures,
  type NodeBlock,
  type NodeTransaction,
} from '../explorer/nodeAnswers.ts';
import { COIN_DECIMALS, formatUnits, formatWhole, GWEI_DECIMALS } from '../explorer/units.ts';

/** Transactions of one page of the list. */
const PAGE = 50;
const BLOCK_MAX = 4_294_967_295;
/** Pause between two looks for a block that the node does not know yet. */
const REFRESH_MS = 2_000;

interface Found {
  readonly block: NodeBlock;
  readonly isFinal: boolean;
  readonly coin: string;
  readonly signatures: ReadonlyMap<string, string>;
}

export const blockView: View = (app, place, main, signal) => {
  const text = place.path[1]?.toLowerCase() ?? '';
  const chain = place.query.get('chainId');
  app.setTitle(`Block ${text}`);
  const head = h('h1', {}, 'Block');
  const isHash = /^0x[0-9a-f]{64}$/.test(text);
  if (!isHash && !(/^\d{1,10}$/.test(text) && Number(text) <= BLOCK_MAX)) {
    main.replaceChildren(
      head,
      emptyNotice('A block is named by its number, or by its hash: 0x and 64 hex digits'),
    );
    return;
  }
  let isMissingYet = false;
  const view = loaded({
    load: async (life): Promise<Found | null> => {
      const number = isHash ? await numberOf(text, chain, life) : Number(text);
      return number === null ? null : find(number, chain, life);
    },
    render: (found) => {
      isMissingYet = found === null;
      if (found === null) return emptyNotice('The node does not know this block, or does not know it yet');
      app.setTitle(`Block ${formatCount(found.block.number)}`);
      head.replaceChildren(`Block ${formatWhole(BigInt(found.block.number))}`);
      return blockPage(found, chain);
    },
    skeleton: () => skeleton(400, 8),
    explain: (error) =>
      error instanceof ApiFailure && error.code === 'no_node'
        ? 'This service has no node to ask for blocks'
        : null,
    signal,
  });
  main.replaceChildren(head, view.element);
  app.onHead(() => isMissingYet && view.refresh(), REFRESH_MS, signal);
};

/** The search knows the hashes of indexed blocks. */
async function numberOf(hash: string, chain: string | null, signal: AbortSignal): Promise<number | null> {
  const query = { q: hash, limit: 10, chainId: chain };
  const { data } = await getAnswer<ListAnswer<SearchHit>>('/search', query, signal);
  return data.find(({ type }) => type === 'block')?.number ?? null;
}

async function find(number: number, chain: string | null, signal: AbortSignal): Promise<Found | null> {
  const [block, final, coin] = await Promise.all([
    getNodeBlock(number, true, chain, signal),
    getNodeBlock('finalized', false, chain, signal),
    getNativeSymbol(chain),
  ]);
  if (block === null) return null;
  const selectors = block.transactions.filter(isCall).map(({ input }) => input.slice(0, 10));
  const signatures = await getSignatures(selectors, signal);
  return { block, isFinal: final !== null && number <= final.number, coin, signatures };
}

const isCall = ({ input, to }: NodeTransaction): boolean => to !== null && input.length >= 10;

function blockPage(found: Found, chain: string | null): HTMLElement {
  const { block, isFinal } = found;
  const { number, baseFee } = block;
  return h(
    'div',
    {},
    h(
      'section',
      { class: 'card contract-card' },
      h(
        'header',
        { class: 'contract-head' },
        isFinal ? badge('final', 'good') : badge('not final yet', 'warn'),
        h(
          'span',
          { class: 'links' },
          number > 0 && h('a', { href: blockPath(number - 1, chain), rel: 'prev' }, '‹ previous'),
          h('a', { href: blockPath(number + 1, chain), rel: 'next' }, 'next ›'),
          h(
            'a',
            { href: logsPath({ from_block: number, to_block: number, order: 'asc', chainId: chain }) },
            'logs',
          ),
        ),
      ),
      block.hash === null ? null : h('p', { class: 'wallet-name' }, copyable(block.hash)),
      facts(
        fact(
          'Time',
          block.time === null ? '—' : h('span', {}, formatTime(block.time), ' (', ago(block.time), ')'),
        ),
        fact('Parent', block.parent === null || number === 0 ? '—' : blockByHash(block.parent, chain)),
        fact('Fee recipient', block.miner === null ? '—' : addressOf(block.miner, chain)),
        fact('Transactions', formatWhole(BigInt(block.transactions.length))),
        fact('Gas used', gasText(block)),
        fact('Base fee', baseFee === null ? '—' : `${formatUnits(baseFee, GWEI_DECIMALS)} gwei`),
        fact('Size', block.size === null ? '—' : `${formatWhole(BigInt(block.size))} bytes`),
      ),
    ),
    transactionList(found, chain),
  );
}

function gasText({ gasUsed, gasLimit }: NodeBlock): string {
  if (gasUsed === null) return '—';
  if (gasLimit === null || gasLimit === 0n) return formatWhole(gasUsed);
  return `${formatWhole(gasUsed)} of ${formatWhole(gasLimit)} (${(gasUsed * 100n) / gasLimit}%)`;
}

function transactionList(found: Found, chain: string | null): HTMLElement {
  const { transactions } = found.block;
  const body = h('tbody', {});
  const more = button('', () => show());
  const show = (): void => {
    const start = body.children.length;
    body.append(...transactions.slice(start, start + PAGE).map((one) => transactionRow(one, found, chain)));
    const rest = transactions.length - body.children.length;
    more.textContent = `${rest} more`;
    more.hidden = rest === 0;
  };
  show();
  const names = ['Transaction', 'Call', 'From', 'To', 'Value'];
  return h(
    'section',
    { class: 'card list-card' },
    h('div', { class: 'card-bar' }, h('h2', {}, 'Transactions')),
    transactions.length === 0
      ? emptyNotice('This block has no transactions')
      : h(
          'div',
          { class: 'table-scroll', tabindex: '0' },
          h(
            'table',
            { class: 'plain' },
            h('thead', {}, h('tr', {}, ...names.map((name) => h('th', {}, name)))),
            body,
          ),
        ),
    more,
  );
}

function transactionRow(
  one: NodeTransaction,
  { coin, signatures }: Found,
  chain: string | null,
): HTMLElement {
  const selector = one.input.slice(0, 10);
  const signature = signatures.get(selector) ?? selector;
  return h(
    'tr',
    {},
    h('td', {}, transactionOf(one.hash, chain)),
    h(
      'td',
      { title: isCall(one) ? signature : null },
      isCall(one)
        ? h('bdi', { class: 'mono' }, signature.split('(')[0] ?? '')
        : one.to === null
          ? 'creation'
          : '',
    ),
    h('td', {}, one.from === null ? '—' : addressOf(one.from, chain)),
    h('td', {}, one.to === null ? 'new contract' : addressOf(one.to, chain)),
    h('td', { class: 'right' }, `${formatUnits(one.value, COIN_DECIMALS)} ${coin}`),
  );
}
