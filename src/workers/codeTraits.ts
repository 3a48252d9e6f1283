/** Finds functions of a contract by the selectors in its code and by its verified ABI. Pure. */
import { id } from 'ethers';

import type { Hex } from '../domain/hex';
import type { AbiEntry } from '../domain/verifiedContract';

const [PUSH1, PUSH3, PUSH4, PUSH32] = [0x60, 0x62, 0x63, 0x7f];

const selectorsOf = (...signatures: readonly string[]): ReadonlySet<string> =>
  new Set(signatures.map((signature) => id(signature).slice(2, 10)));
const MINT_SELECTORS = selectorsOf(
  'mint(address,uint256)',
  'mint(uint256)',
  'mint()',
  'mintTo(address,uint256)',
  'mint(address,uint256,bytes)',
  'issue(uint256)',
);
const PAUSE_SELECTORS = selectorsOf(
  'pause()',
  'pause(bool)',
  'setPaused(bool)',
  'pauseTransfers()',
  'freeze()',
);
/** Functions of bridged tokens: of OmniBridge, and of the bridges of rollups. */
const BRIDGE_SELECTORS = selectorsOf(
  'bridgeContract()',
  'l1Token()',
  'l1Address()',
  'remoteToken()',
  'l2Bridge()',
);
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
  const has = (wantedSelectors: ReadonlySet<string>): boolean =>
    [...wantedSelectors].some((selector) => selectors.has(selector));
  const writingFunctions = (abi ?? []).filter(
    ({ type, stateMutability }) =>
      type === 'function' && stateMutability !== 'view' && stateMutability !== 'pure',
  );
  const functionNames = (abi ?? []).flatMap(({ type, name }) =>
    type === 'function' && name !== undefined ? [name] : [],
  );
  return {
    mintable: has(MINT_SELECTORS) || writingFunctions.some(({ name }) => MINT_NAME.test(name ?? '')),
    pausable: has(PAUSE_SELECTORS) || writingFunctions.some(({ name }) => PAUSE_NAME.test(name ?? '')),
    bridged: has(BRIDGE_SELECTORS) || functionNames.some((name) => BRIDGE_NAMES.has(name)),
  };
}

/**
 * The words of three and four bytes that the code pushes. A selector with a leading zero byte is pushed as three bytes.
 */
function listSelectors(code: Hex): ReadonlySet<string> {
  const bytes = Buffer.from(code.slice(2), 'hex');
  const selectors = new Set<string>();
  for (let position = 0; position < bytes.length; position += 1) {
    const opcode = bytes[position] ?? 0;
    if (opcode < PUSH1 || opcode > PUSH32) continue;
    const wordBytes = opcode - PUSH1 + 1;
    if (opcode === PUSH3 || opcode === PUSH4)
      selectors.add(
        bytes
          .subarray(position + 1, position + 1 + wordBytes)
          .toString('hex')
          .padStart(8, '0'),
      );
    position += wordBytes;
  }
  return selectors;
}
