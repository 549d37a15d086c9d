import { buttonClass } from "../buttons/button.tsx";
import { useEarlyButton } from "./later.ts";
import type { MenuProps } from "./props.ts";

/** A button with a menu of actions or choices. */
export function Menu(props: MenuProps) {
  const { loaded, begun, button } = useEarlyButton();
  if (loaded !== undefined) return <loaded.OpenMenu {...props} begun={begun} />;
  const { label, children, kind = "quiet" } = props;
  return (
    <button
      {...button}
      type="button"
      className={buttonClass(kind)}
      aria-label={label}
      aria-haspopup="menu"
      aria-expanded={false}
    >
      {children}
    </button>
  );
}
