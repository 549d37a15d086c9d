import type { ExpressionWord, ProgramName } from "@svc/gen/jobs";

/**
 * The names that a user can write in an expression: the values in scope, and the functions, operators and variables of the expression
 * language.
 */
export type Nameable = { readonly names: readonly ProgramName[]; readonly words: readonly ExpressionWord[] };

/**
 * One suggestion that completes what the user types in an expression. `text`: what replaces the typed part. `detail`: the type of a value,
 * or the signature of a function. `says`: one line of explanation, or empty.
 */
export type Completion = {
  readonly text: string;
  readonly label: string;
  readonly detail: string;
  readonly says: string;
};

/** The suggestions at one position of an expression. `typed`: number of characters before the position that a chosen suggestion replaces. */
export type Completions = { readonly typed: number; readonly options: readonly Completion[] };

const optionsMax = 60;

/**
 * Returns how an expression can continue after `before`, the text before the cursor. Inside a quoted text, returns nothing. `isAsked`: true
 * if the user asked for suggestions; otherwise there are none before the first letter of a word.
 */
export function completionsAt(before: string, { names, words }: Nameable, isAsked: boolean): Completions {
  const none = { typed: 0, options: [] };
  if (isQuoted(before)) return none;
  const path = /[\w.]*$/.exec(before)?.[0] ?? "";
  if (/^\d/.test(path) || (path === "" && !isAsked)) return none;
  // A name that is typed in full is meant, also if it begins a longer one.
  if (!isAsked && names.some(({ name }) => name === path)) return none;
  if (isAfterValue(before.slice(0, before.length - path.length))) return operatorsFor(path, words);
  const dot = path.lastIndexOf(".") + 1;
  const ofValues = names.filter(({ name }) => continues(name, path)).map(ofName);
  const isFree = ({ name, isMethod }: ExpressionWord) => !isMethod && isName(name);
  const functions = words.filter((word) => isFree(word) && starts(word.name, path)).map(ofWord);
  // `math` and other namespaces of functions are not values, so methods cannot follow them.
  const isNamespace = words.some((word) => isFree(word) && dot > 0 && word.name.startsWith(path.slice(0, dot)));
  const methods = words.filter(({ name, isMethod }) => isMethod && dot > 0 && starts(name, path.slice(dot)));
  const found = [...ofValues, ...functions].map((one) => ({ ...one, text: one.text.slice(dot) }));
  return cut(path.length - dot, isNamespace ? found : [...found, ...methods.map(ofWord)]);
}

/** Returns the names of values that can complete a reference: the names that continue `before`, the text before the cursor. */
export function namesAt(before: string, names: readonly ProgramName[]): Completions {
  return cut(
    before.length,
    names.filter(({ name }) => continues(name, before)).map((name) => ofName(name)),
  );
}

function cut(typed: number, options: readonly Completion[]): Completions {
  return { typed, options: options.slice(0, optionsMax) };
}

function operatorsFor(typed: string, words: readonly ExpressionWord[]): Completions {
  const found = words.filter(({ name, signature }) => isOperator(name, signature) && starts(name, typed));
  return cut(
    typed.length,
    found.map((word) => ({ ...ofWord(word), text: `${word.name} ` })),
  );
}

/** True for a word that joins two values, such as `in`: its signature does not begin with it. */
function isOperator(name: string, signature: string): boolean {
  return !isName(name) || signature.includes(` ${name} `);
}

function isName(text: string): boolean {
  return /^[A-Za-z]/.test(text) && text !== "in";
}

/** True if the text before a word ends with a value and a space, so that only an operator can follow. */
function isAfterValue(before: string): boolean {
  return /[\w)\]"']\s+$/.test(before) && !/(?:^|\W)in\s+$/.test(before);
}

/** True if the end of an expression is inside a quoted text. */
function isQuoted(before: string): boolean {
  let quote = "";
  for (let at = 0; at < before.length; at++) {
    const character = before[at] ?? "";
    if (quote !== "" && character === "\\") at++;
    else if (quote === "" && (character === '"' || character === "'")) quote = character;
    else if (character === quote) quote = "";
  }
  return quote !== "";
}

function starts(name: string, typed: string): boolean {
  return name.toLowerCase().startsWith(typed.toLowerCase());
}

/** True if a name continues the typed text. Without a dot, a later part of the name is enough, such as `email` of `row.email`. */
function continues(name: string, typed: string): boolean {
  if (name.length === typed.length && name === typed) return false;
  return (
    starts(name, typed) ||
    (typed.length > 1 && !typed.includes(".") && name.split(".").some((part) => starts(part, typed)))
  );
}

function ofName({ name, type }: ProgramName): Completion {
  return { text: name, label: name, detail: type, says: "" };
}

function ofWord({ name, signature, summary, isMethod }: ExpressionWord): Completion {
  const isCalled = isMethod || signature.startsWith(`${name}(`);
  return { text: isCalled ? `${name}(` : name, label: name, detail: signature, says: summary };
}
