import type { Tool } from "@svc/gen/catalog";
import { Link } from "@tanstack/react-router";
import { Line } from "../../ui/layout/stack.tsx";
import { Facts } from "../../ui/values/facts.tsx";
import { scopeWords } from "../../words/scope.ts";

/** What is known of a tool besides what it does. */
export function ToolFacts({ projectId, tool }: { projectId: string; tool: Tool }) {
  const { slug, toolkitSlug, requiredScopes, ownerProjectId } = tool;
  return (
    <Facts
      facts={[
        [
          "Toolkit",
          <Link key="toolkit" to="/p/$projectId/toolkits/$toolkitSlug" params={{ projectId, toolkitSlug }}>
            {toolkitSlug}
          </Link>,
        ],
        [
          "Scopes",
          requiredScopes.length === 0 ? (
            "none in particular"
          ) : (
            <Line key="scopes">
              {requiredScopes.map((scope) => (
                <code key={scope}>{scopeWords(scope)}</code>
              ))}
            </Line>
          ),
        ],
        ["Owner", ownerProjectId === "" ? undefined : "this project"],
        [
          "Calls",
          <Link key="calls" to="/p/$projectId/calls" params={{ projectId }} search={{ tool: slug }}>
            its calls in the ledger
          </Link>,
        ],
      ]}
    />
  );
}
