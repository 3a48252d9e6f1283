/**
 * Signatures that are known without any verified contract: so that a token that nobody verified still shows its transfers.
 * Of events that differ in what is indexed (ERC-20's Transfer and ERC-721's) each form stands by itself.
 */
import { Interface } from 'ethers';

import { listSignatures, readAbi } from '../../domain/abi';
import type { KnownSignature } from '../../domain/verifiedContract';
import { AppError } from '../../errors';
import { CONTROL_INTERFACES } from './controlInterfaces';
import { DEX_INTERFACES } from './dexInterfaces';
import { TOKEN_INTERFACES } from './tokenInterfaces';

export function listWellKnownSignatures(): KnownSignature[] {
  return [TOKEN_INTERFACES, CONTROL_INTERFACES, DEX_INTERFACES].flatMap((lines) => {
    // Line by line: one interface would refuse two events of one signature.
    const entries: unknown[] = lines.flatMap((line) => JSON.parse(new Interface([line]).formatJson()));
    const abi = readAbi(entries);
    if (abi === null) throw new AppError('internal', 'a well-known interface is no ABI');
    return listSignatures(abi);
  });
}
