/** Tests that names and paths with control characters, bidirectional marks and the like are refused before
 * storage. */
import { isPrintable } from '../../../src/domain/address';
import { BrokenRecord, checkLimits, type ImportedRecord } from '../../../src/contracts/import/foundContract';
import { NO_DEPLOYMENT } from '../../../src/contracts/verifiedRecord';
import { readStandardInput } from '../../../src/contracts/verify/standardJson';

const HOSTILE: readonly (readonly [string, string])[] = [
  ['the exception marker of ClickHouse', 'a\r\n__exception__\r\nb'],
  ['NUL', 'a\0b'],
  ['a newline', 'a\nb'],
  ['a tab', 'a\tb'],
  ['DEL', 'a\x7fb'],
  ['a C1 control', 'a\x85b'],
  ['a bidi override', 'a\u202eb'],
  ['a bidi isolate', 'a\u2066b'],
  ['a right-to-left mark', 'a\u200fb'],
  ['a line separator', 'a\u2028b'],
  ['a byte order mark', '\ufeffa'],
  ['a lone surrogate', 'a\ud800b'],
];

function recordWith(change: Partial<ImportedRecord['contract']>, path = 'a.sol'): ImportedRecord {
  return {
    runtimeCode: null,
    metadataText: null,
    deployment: NO_DEPLOYMENT,
    sources: [{ path, content: 'contract A {}\r\n\t// \u202e any text' }],
    contract: {
      chainId: 369,
      address: `0x${'12'.repeat(20)}`,
      status: 'match',
      source: 'blockscout',
      verifiedAt: 0,
      name: 'A',
      path,
      language: 'Solidity',
      compiler: 'solc',
      compilerVersion: '0.8.30+commit.73712a01',
      optimization: false,
      runs: 200,
      evmVersion: null,
      license: null,
      abi: [],
      constructorArguments: null,
      libraries: {},
      creationMatch: null,
      settings: '{}',
      ...change,
    },
  };
}

const parameter = (name: string) => [
  { type: 'event', name: 'E', inputs: [{ name, type: 'uint256', indexed: false }] },
];

test.each(HOSTILE)('the character %s is refused in a path and in every name of a record', (_, text) => {
  const broken = [
    recordWith({}, text),
    recordWith({ name: text }),
    recordWith({ compilerVersion: text }),
    recordWith({ evmVersion: text }),
    recordWith({ license: text }),
    recordWith({ abi: parameter(text) }),
    recordWith({ libraries: { [text]: `0x${'34'.repeat(20)}` } }),
  ];
  for (const record of broken) {
    expect(() => checkLimits(record)).toThrow(BrokenRecord);
    // The error text has printable ASCII characters only, because users and the log see the text.
    expect(() => checkLimits(record)).toThrow(/^[\x20-\x7e]+$/);
  }
});

test.each(HOSTILE)('the character %s is refused in a path of a standard JSON input', (_, text) => {
  const input = { language: 'Solidity', sources: { 'a.sol': { content: '' }, [text]: { content: '' } } };
  expect(() => readStandardInput(input)).toThrow('the path of a source file contains control characters');
  const broken = { language: 'Solidity', sources: { [text]: {} } };
  expect(() => readStandardInput(broken)).toThrow(/^[\x20-\x7e]+$/);
});

test('names in other scripts, with quotes or with markup are accepted', () => {
  for (const text of [
    'contracts/Ünïcode.sol',
    '合约/代币.sol',
    'a\'b"c\\d.sol',
    '<script>.sol',
    '=1+1',
    '\u{1f600}',
  ]) {
    expect(isPrintable(text)).toBe(true);
    expect(checkLimits(recordWith({ name: text, abi: parameter(text) }, text)).contract.name).toBe(text);
    expect(
      Object.keys(readStandardInput({ language: 'Yul', sources: { [text]: { content: '' } } }).sources),
    ).toEqual([text]);
  }
});
