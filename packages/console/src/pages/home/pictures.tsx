import styles from "./start.module.css";

// Pictures of the first steps. They are decoration: screen readers skip them.

/** A box of a picture with a text. `tone`: class name of the dot's color. */
function Box({ x, y, width, text, tone }: { x: number; y: number; width: number; text: string; tone: string }) {
  return (
    <>
      <rect className={styles["box"]} x={x} y={y} width={width} height={28} rx={8} />
      <circle className={styles[tone]} cx={x + 16} cy={y + 14} r={5} />
      <text x={x + 28} y={y + 18}>
        {text}
      </text>
    </>
  );
}

/**
 * Draws a picture that explains webhooks: an app posts to svc, which verifies and stores the post, then delivers it to a server and a
 * program.
 */
export function WebhookPicture() {
  return (
    <svg viewBox="0 0 460 96" aria-hidden>
      <path className={styles["wire"]} d="M108 48H166M292 48C312 48 312 24 332 24M292 48C312 48 312 72 332 72" />
      <Box x={8} y={34} width={100} text="Calendar" tone="tone1" />
      <Box x={166} y={34} width={126} text="verify, store" tone="tone2" />
      <Box x={332} y={10} width={120} text="your server" tone="tone3" />
      <Box x={332} y={58} width={120} text="a program" tone="tone4" />
    </svg>
  );
}

/** Draws a form that sends a message. */
export function ToolPicture() {
  return (
    <svg viewBox="0 0 460 96" aria-hidden>
      <rect className={styles["box"]} x={76} y={14} width={308} height={68} rx={11} />
      <text x={92} y={36}>
        Message
      </text>
      <rect className={styles["box"]} x={92} y={44} width={196} height={26} rx={7} />
      <text x={102} y={61}>
        Hello from svc
      </text>
      <rect className={styles["filled"]} x={300} y={44} width={68} height={26} rx={7} />
      <text className={styles["onFilled"]} x={318} y={61}>
        Send
      </text>
    </svg>
  );
}

/** Draws a picture that explains programs: one that reads three apps and sends one message. */
export function ProgramPicture() {
  return (
    <svg viewBox="0 0 460 96" aria-hidden>
      <path
        className={styles["wire"]}
        d="M116 48C138 48 138 16 160 16M116 48H160M116 48C138 48 138 80 160 80M286 16C308 16 308 48 330 48M286 48H330M286 80C308 80 308 48 330 48"
      />
      <Box x={2} y={34} width={114} text="every 9:00" tone="tone1" />
      <Box x={160} y={2} width={126} text="open deals" tone="tone5" />
      <Box x={160} y={34} width={126} text="incidents" tone="tone4" />
      <Box x={160} y={66} width={126} text="imports" tone="tone2" />
      <Box x={330} y={34} width={128} text="tell the team" tone="tone3" />
    </svg>
  );
}

/** Draws a picture that explains agents: a chat with an agent whose last tool call waits for approval. */
export function AgentPicture() {
  return (
    <svg viewBox="0 0 460 96" aria-hidden>
      <rect className={styles["said"]} x={30} y={4} width={290} height={26} rx={13} />
      <text x={46} y={21}>
        “Which deals are late? Tell the team.”
      </text>
      <rect className={styles["called"]} x={140} y={35} width={290} height={26} rx={13} />
      <text className={styles["onCalled"]} x={156} y={52}>
        read_tool sales_crm.list_deals, 3 found
      </text>
      <rect className={styles["waits"]} x={140} y={66} width={290} height={26} rx={13} />
      <text className={styles["onWaits"]} x={156} y={83}>
        call_tool … waits for your approval
      </text>
    </svg>
  );
}
