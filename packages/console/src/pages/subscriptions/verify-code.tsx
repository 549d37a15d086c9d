import { Section } from "../../ui/layout/section.tsx";
import { Stack } from "../../ui/layout/stack.tsx";
import { CodeBlock } from "../../ui/values/copy.tsx";
import { verifySnippets } from "./verify-snippet.ts";

/**
 * Draws code that verifies the signature of a delivery, in each language. `isForCustomer`: true in the portal, which leaves out the SDK of
 * svc.
 */
export function VerifyCode({ isForCustomer = false }: { isForCustomer?: boolean }) {
  const snippets = verifySnippets.filter((snippet) => !isForCustomer || snippet.isForCustomer);
  return (
    <Section title="Verify the signature">
      <p>Each delivery is signed with the signing secret of its endpoint, by the Standard Webhooks specification.</p>
      {snippets.map(({ name, text }) => (
        <Stack key={name} tight>
          <h3>{name}</h3>
          <CodeBlock text={text} what={`the code for ${name}`} />
        </Stack>
      ))}
    </Section>
  );
}
