/**
 * Prints the faults of the workflows named on the command line, by GitHub's own schema and parser. This is a
 * separate program, because the parser is an ES module and Jest runs CommonJS.
 */
import { readFileSync } from 'node:fs';
import { register } from 'node:module';

/** The parser imports its JSON schema without the import attribute that Node requires. This hook adds the attribute. */
const loader = `export const load = (url, context, next) =>
  next(url, url.endsWith('.json') ? { ...context, importAttributes: { type: 'json' } } : context);`;
register(`data:text/javascript,${encodeURIComponent(loader)}`);
const { convertWorkflowTemplate, NoOperationTraceWriter, parseWorkflow } =
  await import('@actions/workflow-parser');

for (const name of process.argv.slice(2)) {
  const { context, value } = parseWorkflow(
    { name, content: readFileSync(name, 'utf8') },
    new NoOperationTraceWriter(),
  );
  // Converting a workflow finds faults that the schema cannot express, such as jobs that all wait for another
  // job.
  if (value !== undefined) await convertWorkflowTemplate(context, value, undefined, {});
  for (const { message } of context.errors.getErrors()) process.stdout.write(`${message}\n`);
}
