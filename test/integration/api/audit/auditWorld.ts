/** Runs the real ingest session over an AuditChain and provides the dependencies of audits. */

import { RpcError } from '../../../../src/node/rpc/rpcError';
import type { Database } from '../../../../src/clickhouse/client/database';
import type { Hex } from '../../../../src/domain/hex';
import type { EthCalls } from '../../../../src/node/calls/askContracts';
import type { IngestSession } from '../../../../src/ingest/session/session';
import { createAuditDirectory, type AuditDirectory } from '../../../../src/query/audit/auditDirectory';
import type { HeadSnapshot } from '../../../../src/query/head/headSnapshot';
import { TOKENS, V2_FACTORY, V3_FACTORY, type AuditChain, type SimToken } from './auditChain';
import type { ApiServer } from '../../../support/server/apiServer';
import type { ChainDescription } from '../../../../src/domain/chainDescription';
import { openCalmSession } from '../../../simulation/harness';
import { SIM_DESCRIPTION } from '../../../simulation/chain/simDescription';

const DECIMALS_CALL = '0x313ce567';
const SYMBOL_CALL = '0x95d89b41';
export const AUDIT_CHAIN: ChainDescription = {
  ...SIM_DESCRIPTION,
  nativeSymbol: 'PLS',
  wrappedNative: TOKENS.WPLS.address,
  anchors: [
    { address: TOKENS.DAI.address, symbol: 'DAI', priceUsd: 1 },
    { address: TOKENS.USDC.address, symbol: 'USDC', priceUsd: 1.001 },
  ],
  dexes: [
    { name: 'sim_v2', displayName: 'Sim V2', protocol: 'uniswap_v2', factory: V2_FACTORY, feeBps: 29 },
    { name: 'sim_v3', displayName: 'Sim V3', protocol: 'uniswap_v3', factory: V3_FACTORY },
  ],
};

const asWord = (text: string): Hex => `0x${Buffer.from(text).toString('hex').padEnd(64, '0')}`;

/** The contracts of tokens answer decimals(). Without a symbol, 0 decimals would count as unknown. */
const rpcOf = (tokens: readonly SimToken[]): EthCalls => ({
  batchOutcomes: (calls, parse) =>
    Promise.resolve(
      calls.map(({ params }, index) => {
        const [{ to, data }] = params as [{ to: Hex; data: Hex }];
        const token = tokens.find(({ address }) => address === to);
        if (token?.decimals === 0 && data === SYMBOL_CALL) return { value: parse(asWord('LATE'), index) };
        if (token === undefined || data !== DECIMALS_CALL)
          return { error: new RpcError('revert', 'execution reverted') };
        return { value: parse(`0x${token.decimals.toString(16).padStart(64, '0')}`, index) };
      }),
    ),
});

export const openAuditSession = (
  chain: AuditChain,
  database: Database,
  depth: number,
  others: readonly SimToken[] = [],
): Promise<IngestSession> =>
  openCalmSession(chain, database, {
    rpc: rpcOf([...Object.values(TOKENS), ...others]),
    base: chain.at(0)!,
    description: AUDIT_CHAIN,
    depth,
    commitSeed: 1,
  });

/** Tokens and pairs of a snapshot, as an audit looks them up. */
export async function directoryAt({ market }: ApiServer, head: HeadSnapshot): Promise<AuditDirectory> {
  return createAuditDirectory(await market.pairs.at(head), await market.tokens.at(head));
}
