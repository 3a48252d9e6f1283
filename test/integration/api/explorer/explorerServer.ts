/** Serves the explorer's endpoints and dialects over HTTP, for tests that store the rows themselves. */

import { createByteCache } from '../../../../src/api/byteCache';
import { explorerRoutes } from '../../../../src/api/routes';
import type { ExplorerDeps } from '../../../../src/api/explorerScope';
import type { SignatureReader, VerifiedReader } from '../../../../src/domain/verifiedContract';
import { createBlockHashes } from '../../../../src/query/head/blockHashes';
import { createVerifiedLister, type VerifiedLister } from '../../../../src/query/contracts/verifiedList';
import { createContractReader } from '../../../../src/query/contracts/contracts';
import type { HeadSnapshot } from '../../../../src/query/head/headSnapshot';
import { createLogCounts } from '../../../../src/query/logs/logCounts';
import { createLogDecoder } from '../../../../src/query/logs/logDecoder';
import { createPoolNames } from '../../../../src/query/pairs/poolNames';
import { Directory } from '../../../../src/query/tokens/directory';
import type { Json } from '../../../support/server/apiServer';
import { serveRoutes } from '../../../support/server/serveRoutes';
import type { TestStore } from '../../../support/engine/testStore';

const CHAIN_ID = 369;
const nothingVerified: VerifiedReader = {
  find: () => Promise.resolve(null),
  findMany: (contracts) => Promise.resolve(contracts.map(() => null)),
  readSources: () => Promise.resolve([]),
  readOutputs: () => Promise.resolve({}),
};
export const noSignatures: SignatureReader = {
  listBySelectors: () => Promise.resolve([]),
  listByPrefix: () => Promise.resolve([]),
};

const nothingListed: VerifiedLister = { listVerified: () => Promise.resolve([]) };

/**
 * Dependencies of the endpoints. The store holds chain 369 and the verified contracts. If the store is null, no block
 * is stored. Chains 369 and 943 are valid.
 */
export function explorerDeps(
  store: Pick<TestStore, 'runner' | 'database'> | null,
  head: () => HeadSnapshot | null,
  more: Partial<ExplorerDeps> = {},
): ExplorerDeps {
  const source = store === null ? null : { chainId: CHAIN_ID, runner: store.runner };
  const chain =
    source === null
      ? null
      : {
          ...source,
          head,
          hashes: createBlockHashes(source),
          logCounts: createLogCounts(source),
          directory: new Directory(source.runner),
          poolNames: createPoolNames(source.runner, []),
        };
  const verifiedDb = store?.database ?? 'nowhere';
  const { verified = nothingVerified, signatures = noSignatures } = more;
  return {
    chainIds: [CHAIN_ID, 943],
    findChain: (chainId) => (chainId === CHAIN_ID ? chain : null),
    cache: createByteCache(),
    contracts: createContractReader(
      (chainId) => {
        const now = head();
        return chainId !== CHAIN_ID || source === null || now === null ? null : { source, head: now };
      },
      () => verifiedDb,
    ),
    verified,
    verifiedList: store === null ? nothingListed : createVerifiedLister(store.runner),
    signatures,
    decoder: createLogDecoder({ verified, signatures }),
    verifiedDb,
    namesOf: () => ({ dexes: [], pairs: () => [] }),
    ...more,
  };
}

export interface ExplorerAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed body; null if the body is not JSON. */
  readonly json: { status?: unknown; message?: unknown; result?: unknown; [key: string]: unknown } | null;
}

export interface ExplorerServer {
  readonly port: number;
  /** Sends a request with any path, method and body. */
  ask(path: string, init?: RequestInit): Promise<ExplorerAnswer>;
  /** Sends a request for a path below `/api/v1`. */
  get(path: string): Promise<Omit<ExplorerAnswer, 'json'> & { readonly json: Json }>;
  close(): Promise<void>;
}

export async function startExplorer(
  deps: ExplorerDeps,
  head: () => HeadSnapshot | null,
  rateLimitPerMinute = 0,
): Promise<ExplorerServer> {
  const { port, url, close } = await serveRoutes(explorerRoutes(deps), { head, rateLimitPerMinute });
  const ask: ExplorerServer['ask'] = async (path, init) => {
    const answer = await fetch(`${url}${path}`, init);
    const text = await answer.text();
    const isJson = answer.headers.get('content-type')?.includes('json') === true;
    const json = isJson ? JSON.parse(text) : null;
    return { status: answer.status, headers: answer.headers, text, json };
  };
  return {
    port,
    ask,
    get: async (path) => (await ask(`/api/v1${path}`)) as Awaited<ReturnType<ExplorerServer['get']>>,
    close,
  };
}
