#!/bin/sh
# SheetJS 0.18.5, exceljs 4.4.0, xlsx-populate 1.21.0, write-excel-file 4.1.1: a BigInt, such as an id above 2^53, as a cell.
# Guess: each library throws, or writes the number rounded to 15 digits.
# Behaviour: xlsx-populate leaves the cell empty, without a word, and the file is written. exceljs throws, not at the cell
#   but when the file is written. SheetJS and write-excel-file write all digits, as text.
# Seen with Node 20.20.2: the table that is printed.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --prefix . --silent --no-audit --no-fund --ignore-scripts xlsx@0.18.5 exceljs@4.4.0 xlsx-populate@1.21.0 write-excel-file@4.1.1

cat > run.mjs <<'EOF'
import assert from "node:assert/strict";
import Excel from "exceljs";
import write from "write-excel-file/node";
import XLSX from "xlsx";
import Populate from "xlsx-populate";

const id = 9007199254740993n;
const firstCell = (file) => XLSX.readFile(file).Sheets.Sheet1.A1?.v ?? "empty";
const ways = {
  SheetJS() {
    XLSX.writeFile({ SheetNames: ["Sheet1"], Sheets: { Sheet1: XLSX.utils.aoa_to_sheet([[id]]) } }, "a.xlsx");
    return firstCell("a.xlsx");
  },
  async exceljs() {
    const book = new Excel.Workbook();
    book.addWorksheet("Sheet1").addRow([id]);
    await book.xlsx.writeFile("b.xlsx");
    return firstCell("b.xlsx");
  },
  async "xlsx-populate"() {
    const book = await Populate.fromBlankAsync();
    book.sheet(0).cell("A1").value(id);
    await book.toFileAsync("c.xlsx");
    return firstCell("c.xlsx");
  },
  async "write-excel-file"() {
    await (await write([[{ value: id }]])).toFile("d.xlsx");
    return firstCell("d.xlsx");
  },
};
const seen = {};
for (const [name, way] of Object.entries(ways)) {
  try {
    seen[name] = await way();
  } catch (error) {
    seen[name] = `${error.name}: ${error.message}`;
  }
}
console.table(seen);
assert.deepEqual(seen, {
  SheetJS: "9007199254740993",
  exceljs: "TypeError: Do not know how to serialize a BigInt",
  "xlsx-populate": "empty",
  "write-excel-file": "9007199254740993",
});
EOF
node run.mjs
