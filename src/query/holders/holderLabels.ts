/** Names the holders of a token that are known contracts: pairs, vaults, burn addresses, treasuries and lockers. */
import { listWatched, type SupplyRules } from '../../domain/chainDescription';
import type { Dex } from '../../domain/pool';
import { findManyTokenProtocol } from '../../protocols/registry';
import type { HolderLabel } from '../../wire/holders';

export type FindLabel = (holder: string) => HolderLabel | null;

interface LabelRules extends SupplyRules {
  readonly dexes: readonly Pick<Dex, 'displayName' | 'protocol' | 'factory'>[];
}

/** The pairs by address. */
interface NamedPairs {
  readonly byAddress: { get(address: string): { readonly tokens: { readonly name: string } } | undefined };
}

/** A vault holds the tokens of all its pools. */
export function createHolderLabels(chain: LabelRules): (pairs: NamedPairs) => FindLabel {
  const labels = new Map<string, HolderLabel>();
  for (const { displayName, protocol, factory } of chain.dexes)
    if (findManyTokenProtocol(protocol)?.isVault === true)
      labels.set(factory, { kind: 'vault', name: `${displayName} vault` });
  for (const { address, kind, label } of listWatched(chain)) labels.set(address, { kind, name: label });
  return (pairs) => (holder) => {
    const pair = pairs.byAddress.get(holder);
    return labels.get(holder) ?? (pair === undefined ? null : { kind: 'pair', name: pair.tokens.name });
  };
}
