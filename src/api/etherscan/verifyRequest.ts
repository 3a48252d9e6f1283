/**
 * Parses a verifysourcecode call, in the spelling of Etherscan, hardhat, forge or Blockscout, into a verification
 * request.
 */
import { isPrintable } from '../../domain/address';
import { isHexData, toLowerHex, type Hex } from '../../domain/hex';
import { parseJsonText } from '../../domain/texts/textThread';
import type { VerificationRequest } from '../../domain/verificationQueue';
import { dialectError } from './answers';
import { badFormat, needAddress, numberOf, textOf, type AskedParams } from './askedParams';

const CONTRACT_NAME_MAX = 1_200;
const RUNS_MAX = 2 ** 32 - 1;
const LIBRARIES_MAX = 10;
/** Limits of the standard JSON input, which is JSON text inside one field. */
const INPUT_BOUNDS = { depthMax: 32, partsMax: 20_000 };

/**
 * The license of each of Etherscan's numbers, https://docs.etherscan.io/api-reference/endpoint/verifysourcecode. The
 * numbers begin with 1, which means no license; 0 counts as 1.
 */
const LICENSES: readonly (string | null)[] = [
  null,
  null,
  'Unlicense',
  'MIT',
  'GPL-2.0',
  'GPL-3.0',
  'LGPL-2.1',
  'LGPL-3.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'MPL-2.0',
  'OSL-3.0',
  'Apache-2.0',
  'AGPL-3.0',
  'BUSL-1.1',
];

const VYPER_REFUSED =
  'Vyper contracts cannot be verified here: no Vyper compiler is installed. Allowed: Solidity and ' +
  'Yul, with codeformat solidity-single-file or solidity-standard-json-input';

/** Parses the parameters of verifysourcecode. Throws bad_request with a text that the caller sees. */
export async function readVerification(asked: AskedParams, chainId: number): Promise<VerificationRequest> {
  const address = needAddress(asked, 'contractaddress');
  const format = (textOf(asked, 'codeformat') ?? 'solidity-single-file').toLowerCase();
  const compilerVersion = needText(asked, 'compilerversion');
  if (format.startsWith('vyper') || compilerVersion.startsWith('vyper')) throw dialectError(VYPER_REFUSED);
  const sourceText = needText(asked, 'sourceCode');
  const contractName = needText(asked, 'contractname');
  if (contractName.length > CONTRACT_NAME_MAX || !isPrintable(contractName)) throw badFormat('contractname');
  if (!/^v?\d+\.\d+\.\d+(?:[+.-][\w.+-]{0,60})?$/.test(compilerVersion)) throw badFormat('compilerversion');
  return {
    chainId,
    address,
    input: await readInput(asked, format, sourceText, contractName),
    contractName,
    compilerVersion,
    license: readLicense(asked),
    constructorArguments: readArguments(asked),
    libraries: format === 'solidity-single-file' ? readLibraries(asked) : {},
  };
}

function needText(asked: AskedParams, name: string): string {
  const text = textOf(asked, name);
  if (text === null) throw dialectError(`Error! Missing ${name}`);
  return text;
}

async function readInput(
  asked: AskedParams,
  format: string,
  text: string,
  contractName: string,
): Promise<unknown> {
  if (format === 'solidity-single-file') return singleFileInput(asked, text, contractName);
  if (format !== 'solidity-standard-json-input') throw badFormat('codeformat');
  // Some clients send the input in a second pair of braces, as getsourcecode writes it.
  const parsed = await parseJsonText(/^\{\s*\{/.test(text) ? text.slice(1, -1) : text, INPUT_BOUNDS);
  if ('value' in parsed) return parsed.value;
  if (parsed.fault === 'syntax') throw badFormat('sourceCode');
  throw dialectError(
    'Error! Invalid sourceCode format: nested too deeply or too many parts; allowed: ' +
      `${INPUT_BOUNDS.depthMax} levels, ${INPUT_BOUNDS.partsMax} parts`,
  );
}

/**
 * Builds the standard JSON input for one source file. If the contract name has no path, the file gets the
 * name of the contract.
 */
function singleFileInput(asked: AskedParams, content: string, contractName: string): unknown {
  const colonAt = contractName.lastIndexOf(':');
  const path = colonAt > 0 ? contractName.slice(0, colonAt) : `${contractName.slice(colonAt + 1)}.sol`;
  const evmVersion = textOf(asked, 'evmversion');
  if (evmVersion !== null && !/^[a-zA-Z]{1,40}$/.test(evmVersion)) throw badFormat('evmversion');
  const settings = {
    optimizer: { enabled: readFlag(asked, 'optimizationUsed'), runs: readRuns(asked) },
    ...(evmVersion === null || evmVersion.toLowerCase() === 'default' ? {} : { evmVersion }),
  };
  return { language: 'Solidity', sources: { [path]: { content } }, settings };
}

function readFlag(asked: AskedParams, name: string): boolean {
  const text = textOf(asked, name)?.toLowerCase() ?? '0';
  if (text === '1' || text === 'true') return true;
  if (text === '0' || text === 'false') return false;
  throw badFormat(name);
}

function readRuns(asked: AskedParams): number {
  const text = textOf(asked, 'runs');
  return text === null ? 200 : numberOf(text, 'runs', RUNS_MAX);
}

/** Reads `libraryname1` with `libraryaddress1`, and so on. A contract that was linked after compilation has
 * no such parameters. */
function readLibraries(asked: AskedParams): Record<string, Hex> {
  const libraries: Record<string, Hex> = {};
  for (let index = 1; index <= LIBRARIES_MAX; index += 1) {
    const name = textOf(asked, `libraryname${index}`);
    if (name === null) continue;
    if (!/^[\w$]{1,200}$/.test(name)) throw badFormat(`libraryname${index}`);
    libraries[name] = needAddress(asked, `libraryaddress${index}`);
  }
  return libraries;
}

function readLicense(asked: AskedParams): string | null {
  const text = textOf(asked, 'licenseType');
  if (text === null) return null;
  const license = /^\d{1,2}$/.test(text) ? LICENSES[Number(text)] : undefined;
  if (license === undefined) throw badFormat('licenseType');
  return license;
}

/** Etherscan and its clients misspell the name of the constructor arguments; Blockscout accepts both spellings. */
function readArguments(asked: AskedParams): Hex | null {
  const paramName = ['constructorArguements', 'constructorArguments'].find(
    (spelling) => textOf(asked, spelling) !== null,
  );
  if (paramName === undefined) return null;
  const hexDigits = (textOf(asked, paramName) ?? '').replace(/^0[xX]/, '');
  const hex = `0x${hexDigits}`;
  if (!isHexData(hex)) throw badFormat(paramName);
  return toLowerHex(hex);
}
