/* Rules for web/: the recommended ones, checked with types, and what keeps a recording's text out of the markup. */
import tseslint from "typescript-eslint";

const MARKUP = ["innerHTML", "outerHTML", "insertAdjacentHTML", "dangerouslySetInnerHTML", "srcdoc"];

export default tseslint.config({ ignores: ["dist", "node_modules"] }, ...tseslint.configs.recommended, {
  files: ["src/**/*.{ts,tsx}", "tests/**/*.ts"],
  rules: {
    "@typescript-eslint/no-explicit-any": "error",
    "no-eval": "error",
    "no-implied-eval": "error",
    "no-restricted-properties": [
      "error",
      ...MARKUP.map((property) => ({ property, message: "Text nodes only." })),
    ],
    "no-restricted-exports": ["error", { restrictDefaultExports: { direct: true } }],
    eqeqeq: "error",
    "prefer-const": "error",
  },
});
