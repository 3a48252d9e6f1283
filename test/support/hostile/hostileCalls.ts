/** Builds calls to every endpoint with the addresses, hashes and texts of a hostile chain. */

/** Addresses and hashes by kind, one for each hostile pattern that fits the kind. */
export interface HostileFacts {
  readonly head: number;
  readonly tokens: readonly string[];
  readonly pairs: readonly string[];
  readonly wallets: readonly string[];
  readonly holders: readonly string[];
  readonly contracts: readonly string[];
  readonly transactions: readonly string[];
  readonly blocks: readonly string[];
  /** Topics by their position in the log. */
  readonly topics: readonly (readonly string[])[];
  /** Search texts that a user may type. */
  readonly texts: readonly string[];
}

/** Endpoints whose answers contain no bytes of the chain, with the reason. */
export const WITHOUT_CHAIN_BYTES: Readonly<Record<string, string>> = {
  '/api/v1/overview': 'figures alone',
  '/api/v1/dexes': 'names from the chain description, and figures',
  '/api/v1/tokens/{address}/holders':
    'no token of this chain has transfers that add up to a supply, so no holders are listed',
  '/api/v1/tokens/{address}/ticks':
    'bars: the request names the token, and the answer has figures and the token',
  '/udf/config': 'the answer is the same for every chain',
  '/udf/time': 'a time',
  '/udf/history': 'figures alone',
  '/dexscreener/latest-block': 'a number and a time',
  '/v2/chainlist': 'names of chains',
  '/v2/network/testnet/evm/{chainId}/etherscan/api': 'a chain that is not stored here',
  '/v2/verify/{verificationId}': 'the state of a job in memory',
  '/api/v1/chains': 'names from the chain description, and figures',
  '/api/v1/range-hash': 'hashes, and names of tables',
  '/healthz': 'whether the process runs',
  '/readyz': 'how far the index is',
  '/metrics': 'figures by route',
  '/llms.txt': 'describes the API',
  '/openapi.json': 'describes the API',
  '/api/v1/activity/stream': 'a separate test reads this endpoint',
};

/** An action of the Etherscan dialect. */
interface ServedAction {
  readonly module: string;
  readonly action: string;
}

/** Patterns tried with each Etherscan action. */
const PATTERNS_PER_ACTION = 3;

/** Number of alternative paths of the Etherscan API. */
const MOUNTS = 7;

type Calls = Record<string, readonly string[]>;

/**
 * For each hostile pattern, takes an entry from one of the lists, which take turns. Returns the entry and the index of
 * its list.
 */
function inTurn(lists: readonly (readonly string[])[]): (readonly [entry: string, listIndex: number])[] {
  const count = Math.max(...lists.map((list) => list.length));
  return Array.from({ length: count }, (_, index) => {
    const listIndex = index % lists.length;
    const list = lists[listIndex] ?? [];
    return [list[index % list.length] ?? '', listIndex] as const;
  });
}

/** Every `step`-th entry, starting at index `first`. */
const everyNth = <T>(list: readonly T[], step: number, first = 0): T[] =>
  list.filter((_, index) => index % step === first);

const query = (params: Readonly<Record<string, string>>): string => new URLSearchParams(params).toString();

function marketCalls({ head, tokens, pairs, wallets, holders, texts }: HostileFacts): Calls {
  const search = (path: string, name: string): string[] =>
    texts.map((text) => `${path}?${query({ [name]: text, limit: '10' })}`);
  return {
    '/api/v1/overview': ['/api/v1/overview'],
    '/api/v1/tokens': [
      '/api/v1/tokens?limit=100',
      '/api/v1/tokens?limit=100&sort=symbol&order=asc',
      `/api/v1/tokens?addresses=${tokens.slice(0, 20).join()}`,
      ...search('/api/v1/tokens', 'q'),
    ],
    '/api/v1/tokens/{address}': tokens.map((token) => `/api/v1/tokens/${token}`),
    '/api/v1/tokens/{address}/pools': tokens.map((token) => `/api/v1/tokens/${token}/pools`),
    '/api/v1/tokens/{address}/holders': tokens.map((token) => `/api/v1/tokens/${token}/holders`),
    '/api/v1/tokens/{address}/audit': tokens.map((token) => `/api/v1/tokens/${token}/audit`),
    '/api/v1/tokens/{address}/ticks': tokens.map((token) => `/api/v1/tokens/${token}/ticks?timeframe=1m`),
    '/api/v1/pairs': [
      '/api/v1/pairs?limit=100',
      ...everyNth(tokens, 3).map((token) => `/api/v1/pairs?token=${token}`),
      ...search('/api/v1/pairs', 'q'),
    ],
    '/api/v1/pairs/{address}': pairs.map((pair) => `/api/v1/pairs/${pair}`),
    '/api/v1/pairs/{address}/ticks': pairs.map(
      (pair) => `/api/v1/pairs/${pair}/ticks?currency=quote&timeframe=1m`,
    ),
    '/api/v1/dexes': ['/api/v1/dexes'],
    '/api/v1/dexes/{dex_name}': ['sim_v2', 'sim_v3', 'sim_vault'].map((dex) => `/api/v1/dexes/${dex}`),
    '/api/v1/portfolio/{address}': inTurn([wallets, holders]).map(
      ([wallet]) => `/api/v1/portfolio/${wallet}`,
    ),
    '/api/v1/activity': [
      ...Array.from({ length: 3 }, (_, page) => `/api/v1/activity?limit=100&page=${page * 4 + 1}`),
      ...['swap', 'mint', 'burn', 'sync'].map((kind) => `/api/v1/activity?limit=100&event_type=${kind}`),
      ...inTurn([pairs, tokens, wallets]).map(
        ([hex, index]) => `/api/v1/activity?${['pair', 'token', 'maker'][index]}=${hex}`,
      ),
    ],
    '/udf/symbols': pairs.map((pair) => `/udf/symbols?symbol=${pair}`),
    '/udf/search': ['/udf/search?limit=30', ...search('/udf/search', 'query')],
    '/udf/history': pairs.map(
      (pair) => `/udf/history?symbol=${pair}&resolution=1&countback=10&to=4000000000`,
    ),
    '/udf/quotes': pairs.map((pair) => `/udf/quotes?symbols=${pair}`),
    '/dexscreener/asset': tokens.map((token) => `/dexscreener/asset?id=${token}`),
    '/dexscreener/pair': pairs.map((pair) => `/dexscreener/pair?id=${pair}`),
    '/dexscreener/events': Array.from(
      { length: Math.floor(head / 20) },
      (_, index) => `/dexscreener/events?fromBlock=${1 + index * 20}&toBlock=${20 + index * 20}`,
    ),
  };
}

function explorerCalls(facts: HostileFacts): Calls {
  const { contracts, tokens, pairs, transactions, blocks, topics, texts } = facts;
  const searches = texts.map((text) => `/api/v1/search?${query({ q: text })}`);
  return {
    '/api/v1/contracts': [
      '/api/v1/contracts?limit=60',
      '/api/v1/contracts?verified=true&limit=60',
      ...texts.map((text) => `/api/v1/contracts?${query({ q: text })}`),
    ],
    '/api/v1/contracts/{address}': [...contracts, ...tokens.slice(0, 2), ...pairs.slice(0, 2)].map(
      (address) => `/api/v1/contracts/${address}`,
    ),
    '/api/v1/contracts/{address}/events': contracts.flatMap((address, index) => {
      const path = `/api/v1/contracts/${address}/events?limit=20`;
      return index % 6 === 0 ? [path, `${path}&event=Note`] : [path];
    }),
    '/api/v1/logs': [
      '/api/v1/logs?limit=60',
      '/api/v1/logs?limit=60&order=asc',
      ...contracts.map((address) => `/api/v1/logs?limit=20&address=${address}`),
      ...inTurn([...topics, transactions]).map(
        ([hex, index]) => `/api/v1/logs?limit=20&${index < 4 ? `topic${index}` : 'tx_hash'}=${hex}`,
      ),
    ],
    '/api/v1/search': [
      ...searches,
      ...inTurn([contracts, tokens, pairs, transactions, blocks]).map(([hex]) => `/api/v1/search?q=${hex}`),
    ],
    '/api/v1/source-search': [
      '/api/v1/source-search?q=hostile',
      ...texts.map((text) => `/api/v1/source-search?${query({ q: text })}`),
      ...texts.map((text) => `/api/v1/source-search?${query({ q: 'hostile', path: text })}`),
    ],
    // The following two paths read the same data of a contract, so each path is tested with half of the patterns.
    '/v2/contract/all-chains/{address}': everyNth(contracts, 2).map(
      (address) => `/v2/contract/all-chains/${address}`,
    ),
    '/v2/contract/{chainId}/{address}': everyNth(contracts, 2, 1).map(
      (address) => `/v2/contract/369/${address}?fields=all`,
    ),
    '/v2/contracts/{chainId}': ['/v2/contracts/369'],
    '/api/v2/smart-contracts': ['/api/v2/smart-contracts'],
    '/{chainId}/api/v2/smart-contracts': ['/369/api/v2/smart-contracts'],
    '/signature-database/v1/lookup': (topics[0] ?? []).map(
      (topic) => `/signature-database/v1/lookup?event=${topic}&filter=false`,
    ),
    '/api/v2/smart-contracts/{address}': everyNth(contracts, 2).map(
      (address) => `/api/v2/smart-contracts/${address}`,
    ),
    '/{chainId}/api/v2/smart-contracts/{address}': everyNth(contracts, 2, 1).map(
      (address) => `/369/api/v2/smart-contracts/${address}`,
    ),
  };
}

/** Calls every action with every kind of address. An action ignores parameters that it does not use. */
function dialectCalls(facts: HostileFacts, actions: readonly ServedAction[]): Calls {
  const { contracts, tokens, pairs, holders, transactions, topics, head } = facts;
  const itemAt = (list: readonly string[], index: number): string => list[index % list.length] ?? '';
  const call = ({ module, action }: ServedAction, index: number): string => {
    const address = itemAt([...contracts, ...tokens, ...holders], index * 7);
    return query({
      module,
      action,
      chainid: '369',
      address,
      contractaddress: itemAt(action.startsWith('token') ? tokens : contracts, index),
      contractaddresses: itemAt(contracts, index),
      txhash: itemAt(transactions, index),
      topic0: itemAt(topics[0] ?? [], index),
      topic0_1_opr: 'or',
      fromBlock: '0',
      toBlock: String(head),
      blockno: '5',
      blocktype: 'blocks',
      timestamp: '1700000100',
      closest: 'before',
      tag: 'latest',
      to: itemAt(pairs, index),
      data: '0x',
      guid: itemAt(transactions, index),
      index: '0x0',
      boolean: 'true',
      position: '0x0',
      gasprice: '1',
    });
  };
  const count = contracts.length;
  // Each action gets a few patterns, and the next action gets the following ones.
  const actionCalls = actions.flatMap((action, actionIndex) =>
    Array.from({ length: PATTERNS_PER_ACTION }, (_, index) =>
      call(action, actionIndex * PATTERNS_PER_ACTION + index),
    ),
  );
  const logCalls = Array.from({ length: count }, (_, index) =>
    query({ module: 'logs', action: 'getLogs', address: itemAt(contracts, index), chainid: '369' }),
  );
  // Alternative paths give the same answers, so they share the patterns.
  const mounted = (path: string, mountIndex: number): readonly string[] =>
    everyNth(logCalls, MOUNTS, mountIndex).map((query) => `${path}?${query}`);
  return {
    '/api': [...actionCalls, ...logCalls].map((query) => `/api?${query}`),
    '/v2/api': mounted('/v2/api', 0),
    '/api/v1': mounted('/api/v1', 1),
    '/api/v1/etherscan': mounted('/api/v1/etherscan', 2),
    '/api/v1/etherscan/{chainId}/api': mounted('/api/v1/etherscan/369/api', 3),
    '/{chainId}/api': mounted('/369/api', 4),
    '/v2/network/mainnet/evm/{chainId}/etherscan/api': mounted(
      '/v2/network/mainnet/evm/369/etherscan/api',
      5,
    ),
    '/v2/network/testnet/evm/{chainId}/etherscan/api': mounted(
      '/v2/network/testnet/evm/943/etherscan/api',
      6,
    ),
  };
}

/** Calls by path of the OpenAPI document. */
export function hostileCalls(facts: HostileFacts, actions: readonly ServedAction[]): Calls {
  return { ...marketCalls(facts), ...explorerCalls(facts), ...dialectCalls(facts, actions) };
}
