/** GET /api/v1/source-search: searches the sources of verified contracts for lines. */
import { AppError } from '../../errors';
import { SOURCE_LANGUAGES } from '../../query/sources/sourceQuestion';
import { readRegexQuestion } from '../../query/sources/sourceRegex';
import { searchSources } from '../../query/sources/sourceSearch';
import { sourceSearchAnswerShape } from '../../wire/sourceSearch';
import { badParam, flagParam, oneOfParam, parsedParam, textParam, type Param } from '../params';
import type { Route } from '../route';
import { route } from '../scope';
import { asOf, EXPLORER, OFFSET_PARAMS, totalOf, type ExplorerDeps } from '../explorerScope';

const TEXT_LENGTH_MIN = 3;
const TEXT_LENGTH_MAX = 200;
const PATH_LENGTH_MAX = 200;

/** The shortest search text has 3 characters, because the index cannot use fewer; the longest has 200. */
const TEXT_PARAM: Param<string> = {
  ...textParam({
    max: TEXT_LENGTH_MAX,
    description: 'Text to find in a line, or an RE2 expression with mode=regex',
  }),
  schema: textSchema(),
  absent: 'required',
  allowed: `a text of ${TEXT_LENGTH_MIN} to ${TEXT_LENGTH_MAX} characters`,
  doc: { type: 'string', minLength: TEXT_LENGTH_MIN, maxLength: TEXT_LENGTH_MAX },
};

function textSchema(): Param<string>['schema'] {
  const { schema } = textParam({ max: TEXT_LENGTH_MAX });
  return schema
    .transform((text) => trimEnd(text ?? ''))
    .refine((text) => [...text].length >= TEXT_LENGTH_MIN);
}

/** Removes blanks at the end, except a blank that a regular expression escapes. Blanks at the start are indentation. */
function trimEnd(text: string): string {
  const trimmed = text.trimEnd();
  return trimmed.endsWith('\\') && trimmed.length < text.length ? text : trimmed;
}

export function sourceSearch(deps: ExplorerDeps): Route {
  return route(deps, {
    scope: EXPLORER,
    path: '/api/v1/source-search',
    summary: 'Matching lines in the sources of verified contracts',
    description:
      'Each matching line is one hit. A file that several contracts share counts once. Files of ' +
      'contracts with an exact_match come first, then files of contracts with more logs. A source that ' +
      'is verified on another chain only appears under one contract of this chain with the same code. ' +
      'This takes about a minute after both contracts are known.',
    query: {
      q: TEXT_PARAM,
      mode: oneOfParam(['text', 'regex'], {
        absent: 'text',
        description: 'text: q is plain text; regex: q is an RE2 expression',
      }),
      language: parsedParam({
        parse: (text) =>
          SOURCE_LANGUAGES.find((language) => language.toLowerCase() === text.toLowerCase()) ?? null,
        allowed: `one of ${SOURCE_LANGUAGES.join(', ')}`,
        doc: { type: 'string', enum: SOURCE_LANGUAGES },
        description: 'Only files in this language; default: all languages',
      }),
      path: textParam({
        max: PATH_LENGTH_MAX,
        description: 'Only files whose path contains this text, in any letter case',
      }),
      case: flagParam('true makes the search case-sensitive'),
      ...OFFSET_PARAMS,
    },
    answer: sourceSearchAnswerShape,
    errors: [400, 503],
    check: ({ q }) => {
      if (/[\n\r]/.test(q)) throw badParam('q', q, 'one line of text');
    },
    async read({ q, mode, language, path, case: caseMatters, limit, offset }, { chainId, chainAtHead }) {
      const runner = chainAtHead?.chain.runner ?? deps.findChain(deps.chainIds[0] ?? 0)?.runner;
      if (runner === undefined) throw new AppError('unavailable', 'the database does not answer');
      const source = { runner, verifiedDb: deps.verifiedDb };
      const regex = mode === 'text' ? null : await readRegexQuestion(runner, q, caseMatters);
      const question = { q, regex, caseMatters, language, path, chainId, limit, offset };
      const { hits, total, exact } = await searchSources(source, question);
      const meta = { limit, offset, ...totalOf(total, exact), ...asOf(chainAtHead) };
      return { success: true as const, data: [...hits], meta };
    },
  });
}
