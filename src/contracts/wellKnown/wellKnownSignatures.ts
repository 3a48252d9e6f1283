/**
 * Signatures that are known without any verified contract, so that transfers of unverified tokens can be decoded.
 * Events that differ only in indexed parameters, such as Transfer of ERC-20 and ERC-721, are separate entries.
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
    // Each line has its own interface, because one interface refuses two events with the same signature.
    const entries: unknown[] = lines.flatMap((line) => JSON.parse(new Interface([line]).formatJson()));
    const abi = readAbi(entries);
    if (abi === null) throw new AppError('internal', 'a well-known interface is no ABI');
    return listSignatures(abi);
  });
}
