/** Formats the sources of a contract for getsourcecode, without losing any setting that affects the bytecode. */
import type { VerifiedContract } from '../../domain/verifiedContract';

type Json = Readonly<Record<string, unknown>>;

/**
 * Returns plain text for a single file, if the other fields of the answer express all its settings. Otherwise returns
 * the standard JSON input in a second pair of braces.
 */
export function writeSources(
  record: VerifiedContract,
  files: readonly { readonly path: string; readonly content: string }[],
): string {
  const settings = readSettings(record.settings);
  const [file] = files;
  if (file !== undefined && files.length === 1 && record.language !== 'Yul' && fitsAnswerFields(settings))
    return file.content;
  const sources = Object.fromEntries(files.map(({ path, content }) => [path, { content }]));
  return `{${JSON.stringify({ language: record.language, sources, settings })}}`;
}

function readSettings(text: string): Json {
  try {
    return toJson(JSON.parse(text));
  } catch {
    return {};
  }
}

function toJson(value: unknown): Json {
  return typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {};
}

/** Whether OptimizationUsed, Runs and EVMVersion express all settings. */
function fitsAnswerFields(settings: Json): boolean {
  return Object.entries(settings).every(([name, value]) => {
    if (name === 'evmVersion') return true;
    if (name === 'optimizer')
      return Object.keys(toJson(value)).every((key) => OPTIMIZER_ANSWER_FIELDS.has(key));
    if (name === 'metadata')
      return Object.entries(toJson(value)).every(
        ([key, settingValue]) => METADATA_DEFAULTS.get(key) === settingValue,
      );
    return value === false || value === null || isEmpty(value);
  });
}

const OPTIMIZER_ANSWER_FIELDS: ReadonlySet<string> = new Set(['enabled', 'runs']);
/** The compiler's default settings.
 * https://docs.soliditylang.org/en/latest/using-the-compiler.html#input-description */
const METADATA_DEFAULTS: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['useLiteralContent', false],
  ['bytecodeHash', 'ipfs'],
  ['appendCBOR', true],
]);

/** Remappings or libraries that are empty have no effect. */
function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}
