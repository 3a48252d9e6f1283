/**
 * Writes a call of the API as a program in curl, JavaScript and Python. The programs need curl, a browser or Node.js, or
 * Python's standard library. Every value is quoted, so that the text of a form cannot change the program.
 */

export type Language = 'curl' | 'javascript' | 'python';

export const LANGUAGES: readonly (readonly [language: Language, label: string])[] = [
  ['curl', 'curl'],
  ['javascript', 'JavaScript'],
  ['python', 'Python'],
];

/** The kinds of events of the stream. */
export const EVENT_KINDS = ['swap', 'mint', 'burn', 'sync', 'reorg', 'gap'] as const;

type NameValue = readonly [name: string, value: string];

export interface Call {
  readonly method: 'GET' | 'POST';
  /** Absolute URL without a query. */
  readonly url: string;
  /** The query of a GET, or the form of a POST without `json`. */
  readonly params: readonly NameValue[];
  /** Body of a POST. */
  readonly json?: string;
  readonly answer: 'json' | 'text' | 'file' | 'stream';
  /** Name under which an answer that is a file is stored. */
  readonly file?: string;
}

export function writeExample(language: Language, call: Call): string {
  const wellFormedCall = {
    ...call,
    url: toWellFormed(call.url),
    params: call.params.map(([name, value]): NameValue => [name, toWellFormed(value)]),
    ...(call.json === undefined ? {} : { json: toWellFormed(call.json) }),
  };
  return WRITERS[language](wellFormedCall);
}

/** The URL of a call with its query. */
export function urlOf({ method, url, params }: Call): string {
  if (method === 'POST' || params.length === 0) return url;
  const query = new URLSearchParams(
    params.map(([name, value]): [string, string] => [name, value]),
  ).toString();
  // A comma needs no escape, and lists of addresses are easier to read with it.
  return `${url}?${query.replaceAll('%2C', ',')}`;
}

/** Half of a surrogate pair has no form in UTF-8. */
const toWellFormed = (text: string): string => text.replace(/\p{Surrogate}/gu, '\ufffd');

const WRITERS: Readonly<Record<Language, (call: Call) => string>> = {
  curl: writeCurl,
  javascript: writeJavaScript,
  python: writePython,
};

/** Single quotes keep a shell from changing any character of the text. */
const quoteForShell = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;
/** A value as a string of JavaScript and Python, which both read JSON strings. Unicode's line breaks become escapes. */
const quote = (text: string): string =>
  JSON.stringify(text).replace(
    /[\u007f-\u009f\u2028\u2029]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

function writeCurl(call: Call): string {
  const { method, params, json, answer, file } = call;
  const parts = [`curl ${answer === 'stream' ? '-N ' : ''}${quoteForShell(urlOf(call))}`];
  if (json !== undefined)
    parts.push(
      `--header ${quoteForShell('Content-Type: application/json')}`,
      `--data-raw ${quoteForShell(json)}`,
    );
  else if (method === 'POST')
    parts.push(...params.map(([name, value]) => `--data-urlencode ${quoteForShell(`${name}=${value}`)}`));
  if (answer === 'file') parts.push(`--output ${quoteForShell(file ?? 'answer')}`);
  return parts.join(' \\\n  ');
}

function writeJavaScript({ method, url, params, json, answer }: Call): string {
  const lines =
    params.length === 0 ? [] : ['const params = new URLSearchParams({', ...entryLines(params), '});'];
  const urlText = method === 'GET' && params.length > 0 ? `${quote(`${url}?`)} + params` : quote(url);
  if (answer === 'stream')
    return [
      ...lines,
      `const events = new EventSource(${urlText});`,
      `for (const kind of ${JSON.stringify(EVENT_KINDS).replaceAll(',', ', ')})`,
      '  events.addEventListener(kind, ({ data }) => console.log(kind, JSON.parse(data)));',
    ].join('\n');
  const readLines = {
    json: ['console.log(await response.json());'],
    text: ['console.log(await response.text());'],
    file: ['const bytes = await response.arrayBuffer();', 'console.log(bytes.byteLength);'],
  }[answer];
  return [...lines, ...writeFetch(urlText, method, json), ...CHECK_LINES, ...readLines].join('\n');
}

const CHECK_LINES = ['if (!response.ok) throw new Error(await response.text());'];

function writeFetch(urlText: string, method: Call['method'], json: string | undefined): string[] {
  if (method === 'GET') return [`const response = await fetch(${urlText});`];
  const body =
    json === undefined
      ? ['  body: params,']
      : ['  headers: { "Content-Type": "application/json" },', `  body: ${quote(json)},`];
  return [`const response = await fetch(${urlText}, {`, '  method: "POST",', ...body, '});'];
}

/** The lines between the braces of an object of JavaScript or a dictionary of Python. */
const entryLines = (params: readonly NameValue[], indent = '  '): string[] =>
  params.map(([name, value]) => `${indent}${quote(name)}: ${quote(value)},`);

function writePython({ method, url, params, json, answer, file }: Call): string {
  const imports = answer === 'json' ? ['import json'] : [];
  if (params.length > 0) imports.push('from urllib.parse import urlencode');
  imports.push(`from urllib.request import ${json === undefined ? 'urlopen' : 'Request, urlopen'}`, '');
  const lines = params.length === 0 ? [] : ['params = urlencode({', ...entryLines(params, '    '), '})'];
  let urlText = method === 'GET' && params.length > 0 ? `${quote(`${url}?`)} + params` : quote(url);
  if (json !== undefined) {
    lines.push(
      `body = ${quote(json)}.encode()`,
      `request = Request(${urlText}, body, {"Content-Type": "application/json"})`,
    );
    urlText = 'request';
  } else if (method === 'POST') urlText += ', params.encode()';
  const openedFile = answer === 'file' ? `, open(${quote(file ?? 'answer')}, "wb") as file` : '';
  const readLines = {
    json: ['    print(json.dumps(json.load(response), indent=2))'],
    text: ['    print(response.read().decode())'],
    file: ['    file.write(response.read())'],
    stream: ['    for line in response:', '        print(line.decode(), end="", flush=True)'],
  }[answer];
  return [...imports, ...lines, `with urlopen(${urlText}) as response${openedFile}:`, ...readLines].join(
    '\n',
  );
}
