/** The page of one contract: its facts, decoded events, read calls, sources and ABI. Also a search through all sources. */
import { shapeOf } from '../../domain/pools/poolShape.ts';
import { getAnswer, getChains } from '../core/api.ts';
import { contractPath, pairPath, tokenPath, walletPath, type App, type View } from '../core/app.ts';
import { h, segments } from '../core/dom.ts';
import type { ContractRecord, ListAnswer, LogEntry } from '../core/explorerAnswers.ts';
import { formatCount, shortHex } from '../core/format.ts';
import { emptyNotice, isMissing, loadingPanel, skeleton } from '../core/panel.ts';
import { badge, copyButton, fact, facts } from '../core/pieces.ts';
import { chainOf } from '../explorer/contractReads.ts';
import { holderList } from '../explorer/holderList.ts';
import { addressOf, blockNumber, copyable, logsPath, transactionOf } from '../explorer/links.ts';
import { logItem } from '../explorer/logItem.ts';
import { pagedList } from '../explorer/pagedList.ts';
import { readTab } from '../explorer/readTab.ts';
import { sourceView } from '../explorer/sourceView.ts';
import { addressForm } from './portfolioView.ts';
import { sourceSearch } from './sourceSearch.ts';

const PAGE_EVENTS = 50;
const TRANSFER = 'Transfer(address,address,uint256)';

type Tab = 'events' | 'holders' | 'read' | 'source' | 'abi';

function readTabName(text: string | null): Tab {
  const tabs: readonly Tab[] = ['holders', 'read', 'source', 'abi'];
  return tabs.find((tab) => tab === text) ?? 'events';
}

interface ContractContext {
  readonly app: App;
  readonly query: URLSearchParams;
  readonly chain: string | null;
  readonly signal: AbortSignal;
}

export const contractView: View = (app, place, main, signal) => {
  const address = place.path[1]?.toLowerCase() ?? '';
  const chain = place.query.get('chainId');
  const chainQuery = chain === null ? '' : `?chainId=${chain}`;
  app.setTitle('Contract');
  const form = addressForm('Contract address', address, (enteredAddress) =>
    app.go(`${contractPath(enteredAddress)}${chainQuery}`),
  );
  const chains = chainChoice(chain, signal, (value) => app.go(`/contract/${address}?chainId=${value}`));
  const logsLink = h('a', { href: logsPath({ chainId: chain }) }, 'Search logs');
  const head = h('div', { class: 'look-up' }, h('h1', {}, 'Contract'), form, logsLink, chains);
  if (address === '') {
    main.replaceChildren(head, sourceSearch(chain, place.query.get('q') ?? '', app, signal));
    return;
  }
  const view = loadingPanel({
    load: async (loadSignal) => {
      const query = { chainId: chain };
      const answer = getAnswer<{ data: ContractRecord }>(`/contracts/${address}`, query, loadSignal);
      return { data: (await answer).data, otherChain: await chainOf(place.query) };
    },
    render: ({ data, otherChain }) => {
      app.setTitle(data.name ?? shortHex(data.address));
      return contractPage(data, { app, query: place.query, chain: otherChain, signal });
    },
    skeleton: () => h('div', {}, skeleton(120), skeleton(400, 8)),
    explain: (error) =>
      isMissing(error)
        ? `No contract is known at ${shortHex(address)} on ${chain === null ? 'this chain' : `chain ${chain}`}: it has no indexed logs, or this service does not index the chain`
        : null,
    signal,
  });
  main.replaceChildren(head, view.element);
};

/** The chains of this service, loaded after the page is shown. The first chain is the default. */
function chainChoice(
  chain: string | null,
  signal: AbortSignal,
  choose: (chain: string) => void,
): HTMLElement {
  const chainBox = h('div', {});
  void getChains(signal)
    .then((knownChains) => {
      const values = knownChains.map(({ chainid, chainname }): [string, string] => [chainid, chainname]);
      const chosenChain = chain ?? values[0]?.[0] ?? '';
      chainBox.replaceChildren(
        segments<string>({ label: 'Chain', values, value: chosenChain, onchange: choose }),
      );
    })
    .catch(() => undefined);
  return chainBox;
}

function contractPage(record: ContractRecord, context: ContractContext): HTMLElement {
  const { app, query, chain, signal } = context;
  const body = h('div', { class: 'tab-body' });
  const show = (tab: Tab): void => {
    if (tab === 'events') body.replaceChildren(eventList(record, chain, signal));
    else if (tab === 'holders') body.replaceChildren(holderList(record.address, chain, signal));
    else if (tab === 'read') body.replaceChildren(readTab(record, chain, signal));
    else if (tab === 'source') body.replaceChildren(sourceView({ record, ...context }));
    else body.replaceChildren(abiView(record));
  };
  const firstTab = readTabName(query.get('tab'));
  const tabs = segments<Tab>({
    label: 'Contract data',
    values: [
      ['events', 'Events'],
      ...(hasHolders(record) ? ([['holders', 'Holders']] as const) : []),
      ['read', 'Read'],
      ['source', `Source${record.sources === null ? '' : ` (${record.sources.length})`}`],
      ['abi', 'ABI'],
    ],
    value: firstTab,
    onchange: (tab) => {
      app.remember({ tab: tab === 'events' ? null : tab, chainId: chain });
      show(tab);
    },
  });
  show(firstTab);
  return h(
    'div',
    {},
    summary(record, chain),
    h('section', { class: 'card' }, h('div', { class: 'card-bar' }, tabs), body),
  );
}

/** Tokens have holders, and so have LP tokens. */
const hasHolders = ({ token, pair }: ContractRecord): boolean =>
  token !== null || (pair !== null && shapeOf(pair.pool_type).hasLpToken);

function summary(record: ContractRecord, chain: string | null): HTMLElement {
  const status = record.verification?.status ?? (record.verified ? 'verified' : null);
  const links = [
    // Only the market chain has tokens, pairs and wallets.
    ...(chain === null ? marketLinks(record) : []),
    hasHolders(record)
      ? h('a', { href: logsPath({ address: record.address, topic0: TRANSFER, chainId: chain }) }, 'transfers')
      : null,
    h('a', { href: logsPath({ address: record.address, chainId: chain }) }, 'logs'),
  ];
  return h(
    'section',
    { class: 'card contract-card' },
    h(
      'header',
      { class: 'contract-head' },
      h('h2', {}, record.name ?? 'Unnamed contract'),
      badge(record.type),
      status === null ? badge('not verified', 'warn') : badge(status.replace('_', ' '), 'good'),
      record.proxy !== null && badge(`proxy ${record.proxy.kind}`, 'accent'),
      h('span', { class: 'links' }, ...links),
    ),
    h('p', { class: 'wallet-name' }, copyable(record.address)),
    facts(
      fact('Compiler', record.compiler === null ? '—' : `${record.compiler.name} ${record.compiler.version}`),
      fact('License', record.license ?? '—'),
      fact('Creator', record.creator === null ? '—' : addressOf(record.creator, chain)),
      fact(
        'Created in block',
        record.creation_block === null ? '—' : blockNumber(record.creation_block, chain),
      ),
      record.creation_tx === null ? null : fact('Created by', transactionOf(record.creation_tx, chain)),
      record.proxy === null || record.proxy.implementation === null
        ? null
        : fact('Implementation', addressOf(record.proxy.implementation, chain)),
      fact('Code', record.code_size === null ? '—' : `${formatCount(record.code_size)} bytes`),
      fact('Logs', formatCount(record.log_count)),
      fact(
        'First – last block',
        `${formatCount(record.first_seen_block)} – ${formatCount(record.last_seen_block)}`,
      ),
    ),
  );
}

function marketLinks({ address, token, pair }: ContractRecord): (HTMLElement | null)[] {
  return [
    token === null ? null : h('a', { href: tokenPath(address) }, 'token page'),
    pair === null ? null : h('a', { href: pairPath(address) }, 'pair page'),
    h('a', { href: walletPath(address) }, 'holdings'),
  ];
}

function eventList(record: ContractRecord, chain: string | null, signal: AbortSignal): HTMLElement {
  const input = h('input', {
    type: 'search',
    class: 'filter',
    placeholder: 'Event name, signature or topic0',
    'aria-label': 'Filter events',
  });
  const list = pagedList({
    load: (cursor, loadSignal) => {
      const query = { chainId: chain, limit: PAGE_EVENTS, cursor, event: input.value.replace(/\s/g, '') };
      return getAnswer<ListAnswer<LogEntry>>(`/contracts/${record.address}/events`, query, loadSignal);
    },
    render: ({ data, meta }) => {
      const total = meta?.total ?? 0;
      const orMoreText = meta?.total_relation === 'gte' ? ' or more' : '';
      return {
        element:
          data.length === 0
            ? emptyNotice('No matching events')
            : h('ol', { class: 'events' }, ...data.map((entry) => logItem(entry, chain, record))),
        nextCursor: meta?.next_cursor ?? null,
        rangeText: total === 0 ? '' : `${formatCount(total)}${orMoreText} events`,
      };
    },
    names: ['Newer events', 'Older events'],
    explain: (error) =>
      isMissing(error) && error.code !== 'logs_not_kept' ? 'No events are indexed for this contract' : null,
    signal,
  });
  input.addEventListener('change', () => list.restart());
  return h('div', {}, input, list.element);
}

function abiView({ abi }: ContractRecord): HTMLElement {
  if (abi === null) return emptyNotice('The ABI is unknown, because the contract is not verified');
  const text = JSON.stringify(abi, null, 2);
  return h('div', {}, h('p', {}, copyButton(text), ' Copy'), h('pre', { class: 'code-block' }, text));
}
