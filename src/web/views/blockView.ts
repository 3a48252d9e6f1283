/** The page of one block: its header, its neighbours and its transactions. */
import type { ChainItem } from '../../wire/chains';
import { getAnswer } from '../core/api.ts';
import { blockPath, type View } from '../core/app.ts';
import { button, h } from '../core/dom.ts';
import type { ContractRecord, ListAnswer, SearchHit } from '../core/explorerAnswers.ts';
import { formatCount, formatTime } from '../core/format.ts';
import { emptyNotice, loadingPanel, skeleton } from '../core/panel.ts';
import { ago, badge, fact, facts } from '../core/pieces.ts';
import { chainOf, findChain, listLogs, readContracts, type FoundLogs } from '../explorer/contractReads.ts';
import { addressOf, blockByHash, copyable, logsPath, transactionOf } from '../explorer/links.ts';
import { logItem } from '../explorer/logItem.ts';
import {
  getNodeBlock,
  getSignatures,
  NO_NODE,
  settleAnswer,
  type NodeBlock,
  type NodeTransaction,
} from '../explorer/nodeAnswers.ts';
import { proofFact } from '../explorer/proofFact.ts';
import { COIN_DECIMALS, formatUnits, formatWhole, GWEI_DECIMALS, usedOf } from '../explorer/units.ts';

/** Transactions of one page of the list. */
const PAGE_TRANSACTIONS = 50;
/** Events on the page of the block; the page of logs has all. */
const EVENTS_MAX = 50;
const BLOCK_MAX = 4_294_967_295;
/** Pause between two requests for a block that the node does not have yet. */
const REFRESH_MS = 2_000;

interface FoundBlock extends FoundLogs {
  readonly number: number;
  /** The block from the node; null without an answer, or if the node does not have the block. */
  readonly block: NodeBlock | null;
  /** Why the node gives no answer; null if it gives one. */
  readonly noAnswerReason: string | null;
  /** Null if neither the node nor a stored log shows it. */
  readonly isFinal: boolean | null;
  /** Whether this service has indexed the block. Taken as true if the service keeps no logs. */
  readonly isStored: boolean;
  readonly chainItem: ChainItem | undefined;
  readonly coin: string;
  readonly contracts: ReadonlyMap<string, ContractRecord>;
  readonly signatures: ReadonlyMap<string, string>;
}

export const blockView: View = (app, place, main, signal) => {
  const blockName = place.path[1]?.toLowerCase() ?? '';
  const chain = place.query.get('chainId');
  app.setTitle(`Block ${blockName}`);
  const head = h('h1', {}, 'Block');
  const isHash = /^0x[0-9a-f]{64}$/.test(blockName);
  if (!isHash && !(/^\d{1,10}$/.test(blockName) && Number(blockName) <= BLOCK_MAX)) {
    main.replaceChildren(
      head,
      emptyNotice('A block is named by its number, or by its hash: 0x and 64 hex digits'),
    );
    return;
  }
  let isComplete = false;
  const view = loadingPanel({
    load: async (loadSignal): Promise<FoundBlock | null> => {
      await chainOf(place.query);
      const number = isHash ? await findNumber(blockName, chain, loadSignal) : Number(blockName);
      return number === null ? null : readBlock(number, chain, loadSignal);
    },
    render: (foundBlock) => {
      const {
        number = null,
        block = null,
        noAnswerReason = null,
        asOfBlock = null,
        noLogsReason = null,
      } = foundBlock ?? {};
      const isIndexed = number !== null && (noLogsReason !== null || (asOfBlock ?? 0) >= number);
      isComplete = isIndexed && (block !== null || noAnswerReason === NO_NODE);
      if (foundBlock === null || (block === null && noAnswerReason === null && foundBlock.logs.length === 0))
        return emptyNotice('The node does not know this block, or does not know it yet');
      app.setTitle(`Block ${formatCount(number)}`);
      head.replaceChildren(`Block ${formatWhole(BigInt(foundBlock.number))}`);
      return blockPage(foundBlock, chain);
    },
    skeleton: () => skeleton(400, 8),
    signal,
  });
  main.replaceChildren(head, view.element);
  app.onHead(() => isComplete || view.refresh(), REFRESH_MS, signal);
};

/** The search knows the hashes of indexed blocks. */
async function findNumber(hash: string, chain: string | null, signal: AbortSignal): Promise<number | null> {
  const query = { q: hash, limit: 10, chainId: chain };
  const { data } = await getAnswer<ListAnswer<SearchHit>>('/search', query, signal);
  return data.find(({ type }) => type === 'block')?.number ?? null;
}

async function readBlock(number: number, chain: string | null, signal: AbortSignal): Promise<FoundBlock> {
  const logQuery = { from_block: number, to_block: number, limit: EVENTS_MAX, chainId: chain };
  const [{ value: block, noAnswerReason }, finalBlock, foundLogs, chainItem] = await Promise.all([
    settleAnswer(getNodeBlock({ block: number, withTransactions: true }, chain, signal)),
    settleAnswer(getNodeBlock({ block: 'finalized', withTransactions: false }, chain, signal)),
    listLogs(logQuery, signal),
    findChain(chain),
  ]);
  const { logs } = foundLogs;
  const selectors = (block?.transactions ?? []).filter(isCall).map(({ input }) => input.slice(0, 10));
  const emitters = logs.map(({ address }) => address);
  const [signatures, contracts] = await Promise.all([
    getSignatures(selectors, signal),
    readContracts(emitters, chain, signal),
  ]);
  const isFinal =
    finalBlock.value === null ? (logs[0]?.finalized ?? null) : number <= finalBlock.value.number;
  const isStored = foundLogs.noLogsReason !== null || (foundLogs.asOfBlock ?? 0) >= number;
  const coin = chainItem?.native_symbol ?? '';
  return {
    ...foundLogs,
    number,
    block,
    noAnswerReason,
    isFinal,
    isStored,
    chainItem,
    coin,
    contracts,
    signatures,
  };
}

const isCall = ({ input, to }: NodeTransaction): boolean => to !== null && input.length >= 10;

function blockPage(foundBlock: FoundBlock, chain: string | null): HTMLElement {
  const { number, block, noAnswerReason, logs, isFinal, isStored, chainItem } = foundBlock;
  const hash = block?.hash ?? logs[0]?.block_hash ?? null;
  const time = block?.time ?? logs[0]?.timestamp ?? null;
  return h(
    'div',
    {},
    h(
      'section',
      { class: 'card contract-card' },
      h(
        'header',
        { class: 'contract-head' },
        isFinal !== null && (isFinal ? badge('final', 'good') : badge('not final yet', 'warn')),
        h(
          'span',
          { class: 'links' },
          number > 0 && h('a', { href: blockPath(number - 1, chain), rel: 'prev' }, '‹ previous'),
          h('a', { href: blockPath(number + 1, chain), rel: 'next' }, 'next ›'),
          h('a', { href: logsOf(number, chain) }, 'logs'),
        ),
      ),
      hash === null ? null : h('p', { class: 'wallet-name' }, copyable(hash)),
      facts(
        fact('Time', time === null ? '—' : h('span', {}, formatTime(time), ' (', ago(time), ')')),
        proofFact(number, isStored, chainItem),
        ...(block === null ? [] : nodeFacts(block, chain)),
      ),
      block === null &&
        h(
          'p',
          { class: 'muted missing' },
          `${noAnswerReason ?? 'The node does not have this block'}. Its header and its transactions are unknown; the stored events are shown.`,
        ),
    ),
    block === null ? null : transactionList(block, foundBlock, chain),
    eventList(foundBlock, chain),
  );
}

/** The fields of the header that only the node has. */
function nodeFacts(block: NodeBlock, chain: string | null): HTMLElement[] {
  const { number, parent, miner, transactions, gasUsed, gasLimit, baseFee, size } = block;
  return [
    fact('Parent', parent === null || number === 0 ? '—' : blockByHash(parent, chain)),
    fact('Fee recipient', miner === null ? '—' : addressOf(miner, chain)),
    fact('Transactions', formatWhole(BigInt(transactions.length))),
    fact('Gas used', gasUsed === null ? '—' : usedOf(gasUsed, gasLimit)),
    fact('Base fee', baseFee === null ? '—' : `${formatUnits(baseFee, GWEI_DECIMALS)} gwei`),
    fact('Size', size === null ? '—' : `${formatWhole(BigInt(size))} bytes`),
  ];
}

const logsOf = (number: number, chain: string | null): string =>
  logsPath({ from_block: number, to_block: number, order: 'asc', chainId: chain });

function eventList(
  { number, logs, total, noLogsReason, asOfBlock, contracts }: FoundBlock,
  chain: string | null,
): HTMLElement {
  const isIndexed = (asOfBlock ?? 0) >= number;
  return h(
    'section',
    { class: 'card list-card' },
    h('div', { class: 'card-bar' }, h('h2', {}, `Events (${formatWhole(BigInt(total))})`)),
    logs.length === 0
      ? emptyNotice(
          noLogsReason ?? (isIndexed ? 'This block has no events' : 'This block is not indexed yet'),
        )
      : h(
          'ol',
          { class: 'events tab-body' },
          ...logs.map((entry) =>
            logItem(entry, chain, contracts.get(entry.address) ?? null, addressOf(entry.address, chain)),
          ),
        ),
    total > logs.length &&
      h('p', { class: 'tab-body' }, h('a', { href: logsOf(number, chain) }, 'All events')),
  );
}

function transactionList(
  { transactions }: NodeBlock,
  foundBlock: FoundBlock,
  chain: string | null,
): HTMLElement {
  const body = h('tbody', {});
  const moreButton = button('', () => showMore());
  const showMore = (): void => {
    const start = body.children.length;
    body.append(
      ...transactions
        .slice(start, start + PAGE_TRANSACTIONS)
        .map((transaction) => transactionRow(transaction, foundBlock, chain)),
    );
    const restCount = transactions.length - body.children.length;
    moreButton.textContent = `${restCount} more`;
    moreButton.hidden = restCount === 0;
  };
  showMore();
  const titles = ['Transaction', 'Call', 'From', 'To', 'Value'];
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
            h('thead', {}, h('tr', {}, ...titles.map((name) => h('th', {}, name)))),
            body,
          ),
        ),
    moreButton,
  );
}

function transactionRow(
  transaction: NodeTransaction,
  { coin, signatures }: FoundBlock,
  chain: string | null,
): HTMLElement {
  const selector = transaction.input.slice(0, 10);
  const signature = signatures.get(selector) ?? selector;
  return h(
    'tr',
    {},
    h('td', {}, transactionOf(transaction.hash, chain)),
    h(
      'td',
      { title: isCall(transaction) ? signature : null },
      isCall(transaction)
        ? h('bdi', { class: 'mono' }, signature.split('(')[0] ?? '')
        : transaction.to === null
          ? 'creation'
          : '',
    ),
    h('td', {}, transaction.from === null ? '—' : addressOf(transaction.from, chain)),
    h('td', {}, transaction.to === null ? 'new contract' : addressOf(transaction.to, chain)),
    h('td', { class: 'right' }, `${formatUnits(transaction.value, COIN_DECIMALS)} ${coin}`),
  );
}
