/** Finds functions of a contract by the selectors in its code and by its verified ABI. Pure. */
import { id } from 'ethers';

import type { Hex } from '../domain/hex';
import type { AbiEntry } from '../domain/verifiedContract';

const [PUSH1, PUSH3, PUSH4, PUSH32] = [0x60, 0x62, 0x63, 0x7f];

const selectorsOf = (...signatures: readonly string[]): ReadonlySet<string> =>
  new Set(signatures.map((signature) => id(signature).slice(2, 10)));
const MINTS = selectorsOf(
  'mint(address,uint256)',
  'mint(uint256)',
  'mint()',
  'mintTo(address,uint256)',
  'mint(address,uint256,bytes)',
  'issue(uint256)',
);
const PAUSES = selectorsOf('pause()', 'pause(bool)', 'setPaused(bool)', 'pauseTransfers()', 'freeze()');
/** Functions of bridged tokens: of OmniBridge, and of the bridges of rollups. */
const BRIDGES = selectorsOf('bridgeContract()', 'l1Token()', 'l1Address()', 'remoteToken()', 'l2Bridge()');
const MINT_NAME = /^(?:mint|issue)/i;
const PAUSE_NAME = /^(?:set)?(?:pause|freeze)/i;
const BRIDGE_NAMES: ReadonlySet<string> = new Set(['bridgeContract', 'l1Token', 'l1Address', 'remoteToken']);

interface CodeTraits {
  readonly mintable: boolean;
  readonly pausable: boolean;
  readonly bridged: boolean;
}

/** `code` is the runtime code of the contract, or of a proxy's implementation. `abi` is null without a verification. */
export function codeTraitsOf(code: Hex, abi: readonly AbiEntry[] | null): CodeTraits {
  const selectors = listSelectors(code);
  const has = (wanted: ReadonlySet<string>): boolean => [...wanted].some((one) => selectors.has(one));
  const writes = (abi ?? []).filter(
    ({ type, stateMutability }) =>
      type === 'function' && stateMutability !== 'view' && stateMutability !== 'pure',
  );
  const names = (abi ?? []).flatMap(({ type, name }) =>
    type === 'function' && name !== undefined ? [name] : [],
  );
  return {
    mintable: has(MINTS) || writes.some(({ name }) => MINT_NAME.test(name ?? '')),
    pausable: has(PAUSES) || writes.some(({ name }) => PAUSE_NAME.test(name ?? '')),
    bridged: has(BRIDGES) || names.some((name) => BRIDGE_NAMES.has(name)),
  };
}

/**
 * The words of three and four bytes that the code pushes. A selector with a leading zero byte is pushed as three bytes.
 */
function listSelectors(code: Hex): ReadonlySet<string> {
  const bytes = Buffer.from(code.slice(2), 'hex');
  const found = new Set<string>();
  for (let at = 0; at < bytes.length; at += 1) {
    const op = bytes[at] ?? 0;
    if (op < PUSH1 || op > PUSH32) continue;
    const size = op - PUSH1 + 1;
    if (op === PUSH3 || op === PUSH4)
      found.add(
        bytes
          .subarray(at + 1, at + 1 + size)
          .toString('hex')
          .padStart(8, '0'),
      );
    at += size;
  }
  return found;
}
