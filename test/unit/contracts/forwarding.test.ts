/** Tests how the target of a proxy is found in its code, for clones and proxies of many makers. */
import { readAbilities, readDelegation, readForwarding } from '../../../src/contracts/forwarding';
import type { Hex } from '../../../src/domain/hex';

const TARGET = '00000000a19c2e7f9fde6b1d0a1f4c3b2a5d6e7f';
const at = `0x${TARGET}`;
/** Arguments behind the code of a clone. They contain bytes that look like a forwarded call. */
const ARGUMENTS = `3d73${'99'.repeat(20)}5af4ff0042`;

const CLONES: Readonly<Record<string, string>> = {
  'EIP-1167': `363d3d373d3d3d363d73${TARGET}5af43d82803e903d91602b57fd5bf3`,
  'EIP-1167 without leading zeros of the address': `363d3d373d3d3d363d6f${TARGET.slice(8)}5af43d82803e903d91602757fd5bf3`,
  'EIP-7511 (PUSH0)': `365f5f375f5f365f73${TARGET}5af43d5f5f3e5f3d91602a57fd5bf3`,
  "Solady's PUSH0 form": `5f5f365f5f37365f73${TARGET}5af43d5f5f3e6029573d5ffd5b3d5ff3`,
  "0age's and Solady's form": `3d3d3d3d363d3d37363d73${TARGET}5af43d3d93803e602a57fd5bf3`,
  'the form of 0xSplits': `36602f57343d527f830d2d700a97af574b186c80d40429385d24241565b08a7c559ba283a964d9b160203da13d3df35b3d3d3d3d363d3d37363d73${TARGET}5af43d3d93803e605b57fd5bf3`,
  'Vyper before 0.2.9': `3660006000376110006000366000 73${TARGET}5af41558576110006000f3`.replaceAll(' ', ''),
  'EIP-1167 with arguments, by OpenZeppelin': `363d3d373d3d3d363d73${TARGET}5af43d82803e903d91602b57fd5bf3${ARGUMENTS}`,
  'ClonesWithImmutableArgs by wighawag':
    `3d3d3d3d363d3d3761000b6037363936610 00b013d73${TARGET}5af43d3d93803e603557fd5bf3${ARGUMENTS}000b`.replaceAll(
      ' ',
      '',
    ),
  'appended call data': `363d3d373d3d3d3d60368038038091363936013d73${TARGET}5af43d3d93803e603457fd5bf3${ARGUMENTS}`,
  "Solady's form with arguments": `36602c57343d527f9e4ac34f21c619cefc926c8bd93b54bf5a39c7ab2127a895af1cc0691d7e3dff593da1005b3d3d3d3d363d3d3761000b806062363936013d73${TARGET}5af43d3d93803e606057fd5bf3${ARGUMENTS}000b`,
};

test.each(Object.entries(CLONES))('the target of a clone is found in its code: %s', (_, code) => {
  expect(readForwarding(`0x${code}`)).toEqual({
    kind: 'implementation',
    place: { from: 'code', address: at },
  });
  expect(readAbilities(`0x${code}`).delegates).toBe(true);
});

const MASK = `73${'f'.repeat(40)}`;
const FORWARD = '3660008037600080366000845af43d6000803e60008114156070573d6000fd5b3d6000f3';
const SLOTS: Readonly<Record<string, readonly [code: string, slot: bigint, shift: number]>> = {
  'a Safe proxy 1.5': [
    '608060405260005463a619486e60003560e01c14156024578060601b606c5260206060f35b3660008037600080366000845af43d6000803e806040573d6000fd5b3d6000f3',
    0n,
    0,
  ],
  'a Safe proxy 1.3': [
    `608060405273${'f'.repeat(40)}600054167fa619486e${'0'.repeat(56)}60003514156050578060005260206000f35b${FORWARD}`,
    0n,
    0,
  ],
  'a Safe proxy 1.0': [
    `608060405273${'f'.repeat(40)}600054163660008037600080366000845af43d6000803e6000811415603d573d6000fd5b3d6000f3`,
    0n,
    0,
  ],
  "Solady's minimal EIP-1967 proxy": [
    '363d3d373d3d363d7f360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc545af43d6000803e6038573d6000fd5b3d6000f3',
    0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbcn,
    0,
  ],
  'a slot of its own, beside another value': [
    `3660006000376000600036600060075460 08 1c${MASK}165af4`.replaceAll(' ', ''),
    7n,
    8,
  ],
  'the packed slot of an old compiler': [`366000600037600060003660006003546101009004${MASK}165af4`, 3n, 8],
};

test.each(Object.entries(SLOTS))('the slot of a proxy is found in its code: %s', (_, [code, slot, shift]) => {
  const place = { from: 'slot', slot: `0x${slot.toString(16).padStart(64, '0')}`, shift };
  expect(readForwarding(`0x${code}`)).toEqual({ kind: 'implementation', place });
});

test('a beacon is found in the code, or in the slot of the code', () => {
  const askBeacon = (place: string): Hex =>
    `0x635c60da1b60e01b600052602060006004600 0${place}5afa5060005136600060003760006000366000845af4`.replaceAll(
      ' ',
      '',
    ) as Hex;
  expect(readForwarding(askBeacon(`73${TARGET}`))).toEqual({
    kind: 'beacon',
    place: { from: 'code', address: at },
  });
  expect(readForwarding(askBeacon('600254'))).toMatchObject({ kind: 'beacon', place: { from: 'slot' } });
});

test('a call of a library, a call with changed data and endless loops are no proxies', () => {
  const library: Hex = `0x600060006064608073${TARGET}5af4`;
  const toCaller = '0x36600060003760006000366000335af4';
  const loop = '0x5b366000565b';
  const endless: Hex = `0x${'5b600035600057'.repeat(3_000)}`;
  for (const code of [library, toCaller, loop, endless, '0x', '0x73', '0xf4'] as const)
    expect(readForwarding(code)).toBeNull();
});

test('only the 23 bytes of EIP-7702 are a delegation', () => {
  expect(readDelegation(`0xef0100${TARGET}`)).toBe(at);
  for (const code of [`0xef0100${TARGET}00`, `0xef0101${TARGET}`, '0x', '0xef0100'] as const)
    expect(readDelegation(code)).toBeNull();
});

test('code is fixed unless an operation can end it; pushed data and metadata are no operations', () => {
  const canEnd = (code: string): boolean => readAbilities(`0x${code}`).canEnd;
  expect(['00ff', '33f2', '60fff4', '5fff'].map(canEnd)).toEqual([true, true, true, true]);
  expect(['00', '60ff00', `7f${'ff'.repeat(32)}00`, '60'].map(canEnd)).toEqual([false, false, false, false]);
  const metadata = `a2646970667358221220${'ff'.repeat(32)}64736f6c634300081e0033`;
  expect(canEnd(`6000fe${metadata}`)).toBe(false);
  expect(canEnd(`33ff${metadata}`)).toBe(true);
});
