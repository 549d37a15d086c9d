import { verifySnippets } from "../pages/subscriptions/verify-snippet.ts";
import { Section } from "../ui/layout/section.tsx";
import { Stack } from "../ui/layout/stack.tsx";
import { CodeBlock } from "../ui/values/copy.tsx";

/** Draws code that verifies the signature of a delivery, in each language. */
export function VerifyCode() {
  return (
    <Section title="Verify the signature">
      <p>Each delivery is signed with the signing secret of its endpoint, by the Standard Webhooks specification.</p>
      {verifySnippets
        .filter(({ isForCustomer }) => isForCustomer)
        .map(({ name, text }) => (
          <Stack key={name} tight>
            <h3>{name}</h3>
            <CodeBlock text={text} what={`the code for ${name}`} />
          </Stack>
        ))}
    </Section>
  );
}
