/** Runs the real ingest session over an AuditChain and provides the dependencies of audits. */

import type { ChainFacts } from '../../../src/api/marketRoute';
import type { BlockSource } from '../../../src/chain/blocks/blockSource';
import { RpcError } from '../../../src/chain/rpc/rpcError';
import type { Database } from '../../../src/clickhouse/client/database';
import type { ChainBlock } from '../../../src/domain/block';
import type { Hex } from '../../../src/domain/hex';
import type { Dex } from '../../../src/domain/pool';
import { createClickHouseStore } from '../../../src/ingest/store/clickhouseStore';
import type { DecodeContext } from '../../../src/ingest/decode/decodeContext';
import { PoolDiscovery } from '../../../src/ingest/pools/discoverPools';
import { VaultDiscovery } from '../../../src/ingest/pools/discoverVaultPools';
import type { EthCalls } from '../../../src/ingest/pools/ethCalls';
import { createTransferDecoder } from '../../../src/ingest/decode/decodeTransfers';
import { PoolRegistry } from '../../../src/ingest/pools/poolRegistry';
import { IngestSession } from '../../../src/ingest/session/session';
import { newIngestStatus } from '../../../src/ingest/session/status';
import { createLog } from '../../../src/log';
import { uniswapV2 } from '../../../src/protocols/uniswapV2';
import { uniswapV3 } from '../../../src/protocols/uniswapV3';
import { createAuditDirectory, type AuditDirectory } from '../../../src/query/audit/auditDirectory';
import type { HeadSnapshot } from '../../../src/query/head/headSnapshot';
import { simFinality } from '../../simulation/simNode';
import { TOKENS, V2_FACTORY, V3_FACTORY, type AuditChain } from './auditChain';
import type { ApiServer } from '../../support/apiServer';

const DECIMALS_CALL = '0x313ce567';
const log = createLog('silent', false);
const DEXES: readonly Dex[] = [
  { name: 'sim_v2', displayName: 'Sim V2', protocol: 'uniswap_v2', factory: V2_FACTORY, feeBps: 29 },
  { name: 'sim_v3', displayName: 'Sim V3', protocol: 'uniswap_v3', factory: V3_FACTORY },
];
export const AUDIT_CHAIN: ChainFacts = {
  nativeSymbol: 'PLS',
  chainId: 369,
  wrappedNative: TOKENS.WPLS.address,
  anchors: [
    { address: TOKENS.DAI.address, symbol: 'DAI', priceUsd: 1 },
    { address: TOKENS.USDC.address, symbol: 'USDC', priceUsd: 1.001 },
  ],
  majors: [],
  burn: null,
  dexes: DEXES.map(({ name, displayName, protocol, factory }) => ({ name, displayName, protocol, factory })),
};

/** Tokens answer only decimals(). */
const rpc: EthCalls = {
  batchSettled: (calls, parse) =>
    Promise.resolve(
      calls.map(({ params }, index) => {
        const [{ to, data }] = params as [{ to: Hex; data: Hex }];
        const token = Object.values(TOKENS).find(({ address }) => address === to);
        if (token === undefined || data !== DECIMALS_CALL)
          return { error: new RpcError('revert', 'execution reverted') };
        return { value: parse(`0x${token.decimals.toString(16).padStart(64, '0')}`, index) };
      }),
    ),
};

export function openAuditSession(
  chain: AuditChain,
  database: Database,
  depth: number,
): Promise<IngestSession> {
  const baseIsToken0 = (): boolean => true;
  const decode: DecodeContext = {
    chainId: AUDIT_CHAIN.chainId,
    registry: new PoolRegistry(),
    dexByFactory: new Map(DEXES.map((dex) => [dex.factory, dex])),
    protocolOfDex: (dex) => (dex.protocol === 'uniswap_v2' ? uniswapV2 : uniswapV3),
    protocolOfPool: (pool) => (pool.protocol === 'uniswap_v2' ? uniswapV2 : uniswapV3),
    eventTopics: new Set([...uniswapV2.eventTopics, ...uniswapV3.eventTopics]),
    creationTopics: new Set([uniswapV2.creationTopic, uniswapV3.creationTopic]),
    transfers: createTransferDecoder({
      wrappedNative: null,
      positionManagers: new Set(),
      isPool: () => false,
    }),
    vaultTopics: new Set(),
    baseIsToken0,
    onMalformed: () => undefined,
  };
  const { eventTopics, creationTopics } = decode;
  const discovery = { rpc, dexes: [], eventTopics, creationTopics, baseIsToken0, log };
  let commit = 0;
  const deps = {
    store: createClickHouseStore(database, AUDIT_CHAIN.chainId),
    rpc,
    source: sourceOf(chain),
    finality: simFinality(depth),
    decode,
    prices: {
      anchors: AUDIT_CHAIN.anchors.map(({ address, priceUsd }) => ({ address, priceUsd })),
      wrappedNative: AUDIT_CHAIN.wrappedNative,
    },
    discovery: new PoolDiscovery(discovery),
    vaultDiscovery: new VaultDiscovery({ ...discovery, quoteRank: () => Infinity }),
    status: newIngestStatus(),
    log,
    now: () => 0,
    newCommit: () => (commit += 1),
  };
  return IngestSession.open(deps, () => Promise.resolve(chain.at(0)!), new AbortController().signal);
}

export const headerOf = (block: ChainBlock) => ({ ...block, logsBloom: null });

function sourceOf(chain: AuditChain): BlockSource {
  const range = (from: number, to: number): ChainBlock[] =>
    Array.from({ length: to - from + 1 }, (_, i) => chain.at(from + i)!);
  return {
    fetchHeader: (at) => Promise.resolve(headerOf(typeof at === 'number' ? chain.at(at)! : chain.head)),
    fetchHeaders: (from, to) => Promise.resolve(range(from, to).map(headerOf)),
    fetchRange: (from, to) => Promise.resolve(range(from, to)),
    confirmCanonical: (ref) => Promise.resolve(chain.at(ref.number)?.hash === ref.hash),
  };
}

/** Tokens and pairs of a snapshot, as an audit looks them up. */
export async function directoryAt({ market }: ApiServer, head: HeadSnapshot): Promise<AuditDirectory> {
  return createAuditDirectory(await market.pairs.at(head), await market.tokens.at(head));
}
