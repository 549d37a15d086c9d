import { highlightSpecialChars } from "@codemirror/view";
import { characterName, deceiving } from "../../words/visible.ts";

/**
 * Names characters that nobody sees where they stand in JSON, as `visible` does in other texts. The text itself keeps them: it is copied, and
 * in an editor sent.
 */
export const jsonDeceiving = highlightSpecialChars({
  specialChars: deceiving,
  render: (code) => {
    const mark = document.createElement("span");
    mark.textContent = characterName(code);
    return mark;
  },
});
