import { Section } from "../../ui/layout/section.tsx";
import { CodeBlock } from "../../ui/values/copy.tsx";
import styles from "./overview.module.css";

/** How a project that has none gets its first event, to paste. */
export function FirstEvent() {
  return (
    <Section title="Your first event" boxed>
      <ol className={styles["steps"]}>
        <li>
          <p>
            Print events as they arrive, in a terminal of its own. With --forward they are posted to your server, too:
          </p>
          <CodeBlock text="npx svc listen" />
        </li>
        <li>
          <p>Sign a sample event as its app would, and post it:</p>
          <CodeBlock text="npx svc trigger calendar" />
        </li>
      </ol>
    </Section>
  );
}
