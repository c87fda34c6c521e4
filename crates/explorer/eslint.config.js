// Only rules that find errors: tsc finds unknown names, and prettier does the layout.

// The tests find the texts of the page by these forms, so there are no others.
const texts = [
  "CallExpression[callee.name=/^(t|english)$/][arguments.0.type!='Literal']",
  "CallExpression > Identifier.arguments[name=/^(t|english)$/]",
  ":not(CallExpression, TaggedTemplateExpression, ImportSpecifier, FunctionDeclaration, VariableDeclarator, Property) > Identifier[name=/^(t|english)$/]",
  "ImportSpecifier[imported.name=/^(t|english)$/][local.name!=/^(t|english)$/]",
].map((selector) => ({ selector, message: 'Texts are t("…"), t`…` or english("…"); others are shown by translated.' }));

export default [
  {
    files: ["src/page/*.js", "offline/*.js"],
    languageOptions: { ecmaVersion: 2023, sourceType: "module" },
    linterOptions: { reportUnusedDisableDirectives: true },
    rules: {
      "array-callback-return": "error",
      "consistent-return": "error",
      "constructor-super": "error",
      eqeqeq: "error",
      "for-direction": "error",
      "no-cond-assign": "error",
      "no-const-assign": "error",
      "no-dupe-args": "error",
      "no-dupe-class-members": "error",
      "no-dupe-else-if": "error",
      "no-dupe-keys": "error",
      "no-duplicate-imports": "error",
      "no-empty": "error",
      "no-eval": "error",
      "no-fallthrough": "error",
      "no-implicit-globals": "error",
      "no-loss-of-precision": "error",
      "no-param-reassign": "error",
      "no-promise-executor-return": "off",
      "no-redeclare": "error",
      "no-restricted-syntax": ["error", ...texts],
      "no-self-assign": "error",
      "no-self-compare": "error",
      "no-sparse-arrays": "error",
      "no-unreachable": "error",
      "no-unsafe-finally": "error",
      "no-unused-vars": "error",
      "no-use-before-define": ["error", { functions: false, classes: true, variables: false }],
      "no-var": "error",
      "object-shorthand": "error",
      "prefer-const": "error",
      "prefer-template": "off",
      "require-yield": "error",
      "use-isnan": "error",
      "valid-typeof": "error",
    },
  },
];
