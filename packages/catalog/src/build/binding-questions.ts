import type { BindingQuestion } from "../model.ts";
import type { ToolkitDocument } from "../read/documents.ts";

/** Fields of a binding that fill in addresses, each with the deployment value in whose place it goes, and its question. */
const addresses = [
  ["baseUrl", "provider_base_url", "Address of the app's API, such as https://api.example.com"],
  ["authorizeUrl", "auth_url", "Address of the page on which people give consent (OAuth)"],
  ["tokenUrl", "token_url", "Address from which the app issues tokens (OAuth)"],
  ["scopeBase", "scope_base", "Text before the name of every scope, such as https://auth.example.com (OAuth)"],
] as const;

/**
 * Returns the questions that a project answers before it can use a shared toolkit with its own app: first the app's addresses, then the
 * additional questions of the toolkit's definition. The order is the one in which to ask them.
 */
export function questionsOf({ baseUrl = "", auth, binding = [] }: ToolkitDocument): readonly BindingQuestion[] {
  const text = JSON.stringify([baseUrl, auth]);
  const open = addresses.filter(([, value]) => new RegExp(`\\{\\{\\s*deployment\\.${value}\\s*\\}\\}`).test(text));
  const askOf = (path: string) => binding.find((question) => question.path === path)?.ask;
  return [
    ...open.map(([path, , ask]) => ({ ask: askOf(path) ?? ask, path, needed: true })),
    ...binding.flatMap(({ ask, path, needed = false }) => (path === "baseUrl" ? [] : [{ ask, path, needed }])),
  ];
}
