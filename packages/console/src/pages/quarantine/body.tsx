import { useNavigate, useSearch } from "@tanstack/react-router";
import { JsonView } from "../../ui/code/json-view.tsx";
import { Section } from "../../ui/layout/section.tsx";
import { Tabs } from "../../ui/layout/tabs.tsx";
import { CodeBlock } from "../../ui/values/copy.tsx";
import { hexBytesMax, hexOf, isJson, textOf } from "./body-text.ts";

/**
 * Draws the raw body of a webhook post. A body in UTF-8 is shown as text, and the user can switch to its single bytes in hexadecimal. Any
 * other body is shown as bytes.
 */
export function Body({ body }: { body: Uint8Array }) {
  const text = textOf(body);
  const { body: shown = text === undefined ? "hex" : "text" } = useSearch({ strict: false });
  const navigate = useNavigate();
  const hex = (
    <>
      <CodeBlock text={hexOf(body)} what="bytes" />
      {body.length > hexBytesMax && <p>The first {hexBytesMax.toLocaleString("en")} bytes are shown.</p>}
    </>
  );
  const asText =
    text !== undefined &&
    (isJson(text) ? <JsonView text={text} label="body" /> : <CodeBlock text={text} what="body" />);
  return (
    <Section title={`Body, ${body.length.toLocaleString("en")} bytes`}>
      {body.length === 0 ? (
        <p>It is empty.</p>
      ) : (
        <Tabs
          label="Body"
          selected={shown}
          onSelect={(id) => void navigate({ to: ".", search: { body: id }, replace: true })}
          tabs={[
            { id: "text", words: "Text", panel: asText || <p>Not UTF-8 text.</p> },
            { id: "hex", words: "Bytes", panel: hex },
          ]}
        />
      )}
    </Section>
  );
}
