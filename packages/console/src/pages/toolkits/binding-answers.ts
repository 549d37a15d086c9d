import type { MessageInitShape } from "@bufbuild/protobuf";
import type { BindingQuestion, ToolkitBinding, ToolkitBindingSchema } from "@svc/gen/catalog";

/** The user's answers to questions about the real app of a toolkit, such as its URL. The key is the path of the question. */
export type BindingAnswers = Readonly<Record<string, string>>;

const ofOauth: readonly string[] = ["authorizeUrl", "tokenUrl", "scopeBase"];
const addresses: readonly string[] = ["baseUrl", ...ofOauth];

/**
 * Returns the questions about the real app of a toolkit that matter for accounts with the authentication `scheme`, in the order in which to
 * ask them.
 */
export function questionsFor(questions: readonly BindingQuestion[], scheme: string): readonly BindingQuestion[] {
  return questions.filter(({ path }) => scheme === "oauth2" || !ofOauth.includes(path));
}

/**
 * Returns the binding (the data with which a toolkit calls the project's real app) made from the user's answers. `overlayJson`: earlier
 * changes to the toolkit's definition, which are kept.
 */
export function bindingOf(
  questions: readonly BindingQuestion[],
  answers: BindingAnswers,
  overlayJson: string,
): MessageInitShape<typeof ToolkitBindingSchema> {
  const given = questions.flatMap(({ path }) => {
    const answer = answers[path]?.trim() ?? "";
    return answer === "" ? [] : [[path, answer] as const];
  });
  const isAddress = ([path]: readonly [string, string]) => addresses.includes(path);
  return {
    ...Object.fromEntries(given.filter(isAddress)),
    values: Object.fromEntries(given.filter((answer) => !isAddress(answer))),
    overlayJson,
  };
}

/** Returns the answers of a stored binding. */
export function answersOf({ baseUrl, authorizeUrl, tokenUrl, scopeBase, values }: ToolkitBinding): BindingAnswers {
  const given = { baseUrl, authorizeUrl, tokenUrl, scopeBase, ...values };
  return Object.fromEntries(Object.entries(given).filter(([, answer]) => answer !== ""));
}

/**
 * Returns the name of the request field that carries the answer to a question. The service uses this name in its errors. `path`: path of the
 * question.
 */
export function fieldOfAnswer(path: string): string {
  return `shared.binding.${addresses.includes(path) ? path : `values[${JSON.stringify(path)}]`}`;
}

/** Returns the label of a question about the real app of a toolkit, and the hint shown below its field. */
export function questionWords({ ask, path, needed }: BindingQuestion): {
  readonly label: string;
  readonly hint: string;
} {
  const [label = ask, ...examples] = ask.split(", such as ");
  const example = examples.length === 0 ? "Copy it from the app." : `Such as ${examples.join(", such as ")}.`;
  const also = path === "baseUrl" ? " Calls and credentials go there." : "";
  return { label, hint: `${example}${also}${needed ? "" : " Leave it empty if the app has none."}` };
}

/** Returns the paths of the questions about a real app that must be answered and have no answer yet. */
export function missingAnswers(questions: readonly BindingQuestion[], answers: BindingAnswers): readonly string[] {
  return questions.flatMap(({ path, needed }) => (needed && (answers[path]?.trim() ?? "") === "" ? [path] : []));
}
