import { Disclosure } from "../ui/layout/disclosure.tsx";
import { scopeWords } from "../words/scope.ts";

/** What the app will be asked for, in its own words. */
export function Scopes({ scopes, toolkitName }: { scopes: readonly string[]; toolkitName: string }) {
  if (scopes.length === 0) return null;
  return (
    <Disclosure summary={`What ${toolkitName} is asked for (${scopes.length})`}>
      <ul>
        {scopes.map((scope) => (
          <li key={scope}>
            <code>{scopeWords(scope)}</code>
          </li>
        ))}
      </ul>
    </Disclosure>
  );
}
