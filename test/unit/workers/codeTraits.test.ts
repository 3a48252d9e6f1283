/** Functions found in code and ABIs of tokens. */
import type { Hex } from '../../../src/domain/hex';
import { codeTraitsOf } from '../../../src/workers/codeTraits';
import { readOwnBytecode } from '../../../src/dev/packageFiles';

/** PUSH4 of a selector, as dispatchers have it. */
const push4 = (selector: string): string => `63${selector}`;
const NOTHING = { mintable: false, pausable: false, bridged: false };

test('the functions of a token are recognised by the selectors in its code', () => {
  const code: Hex = `0x6000${push4('40c10f19')}14${push4('8456cb59')}14${push4('cd596583')}14`;
  expect(codeTraitsOf(code, null)).toEqual({ mintable: true, pausable: true, bridged: true });
});

test('four bytes inside a longer constant are not recognised as a selector', () => {
  const code: Hex = `0x7f${'00'.repeat(20)}${push4('40c10f19')}${'00'.repeat(7)}`;
  expect(codeTraitsOf(code, null)).toEqual(NOTHING);
});

test('a verified ABI reveals functions that the code does not show', () => {
  const mint = { type: 'function', name: 'mintReward', stateMutability: 'nonpayable' };
  const view = { type: 'function', name: 'paused', stateMutability: 'view' };
  expect(codeTraitsOf('0x00', [mint, view])).toEqual({ ...NOTHING, mintable: true });
});

test('a plain token has none of the functions that mint tokens, pause transfers or bridge tokens', () => {
  expect(codeTraitsOf(readOwnBytecode('DevToken'), null)).toEqual(NOTHING);
  expect(codeTraitsOf('0x', null)).toEqual(NOTHING);
});
