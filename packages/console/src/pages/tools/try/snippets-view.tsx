import { Section } from "../../../ui/layout/section.tsx";
import { Tabs } from "../../../ui/layout/tabs.tsx";
import { CodeBlock } from "../../../ui/values/copy.tsx";
import { type SnippetCall, type SnippetKind, snippet, snippetKinds, snippetWords } from "./snippets.ts";

/** The same call in the other ways there are to make it. */
export function SnippetsView({
  kind,
  onKind,
  call,
}: {
  kind: SnippetKind;
  onKind: (kind: SnippetKind) => void;
  call: SnippetCall;
}) {
  return (
    <Section title="The same call">
      <Tabs
        label="The same call"
        selected={kind}
        onSelect={onKind}
        tabs={snippetKinds.map((id) => ({
          id,
          words: snippetWords[id],
          panel: <CodeBlock text={snippet(id, call)} what={`${snippetWords[id]} of the call`} />,
        }))}
      />
    </Section>
  );
}
