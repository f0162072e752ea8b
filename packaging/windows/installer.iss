; The installer for Windows: for one person, without rights of an administrator. Compiled by
; dflash_build/installer.py with Inno Setup 6.3 or newer, which defines:
;   AppVersion   the program's version
;   SourceDir    the frozen folder
;   IconFile     the program's icon
;   OutDir, OutName
; The C++ runtime of Microsoft lies beside the program (its licence allows that), so that nothing has
; to be installed for the whole machine.

#define AppName "DFlash Desktop"
#define AppExe "dflash-desktop.exe"
#define DataName "dflash-desktop"

[Setup]
AppId={{6E1E8B5C-0C5A-4D7B-9D0C-6B0B3C1E7A52}
AppName={#AppName}
AppVersion={#AppVersion}
AppVerName={#AppName} {#AppVersion}
AppPublisher=The DFlash Desktop developers
VersionInfoVersion={#AppVersion}
DefaultDirName={autopf}\{#AppName}
PrivilegesRequired=lowest
ArchitecturesAllowed=x64compatible
ArchitecturesInstallIn64BitMode=x64compatible
MinVersion=10.0.17763
DisableProgramGroupPage=yes
DisableDirPage=auto
UsePreviousAppDir=yes
CloseApplications=yes
RestartApplications=no
ChangesAssociations=yes
ChangesEnvironment=yes
SetupIconFile={#IconFile}
UninstallDisplayIcon={app}\{#AppExe}
UninstallDisplayName={#AppName}
WizardStyle=modern
Compression=lzma2/max
SolidCompression=yes
OutputDir={#OutDir}
OutputBaseFilename={#OutName}

[Languages]
Name: "english"; MessagesFile: "compiler:Default.isl"

[Tasks]
Name: "desktopicon"; Description: "{cm:CreateDesktopIcon}"; Flags: unchecked
Name: "gguf"; Description: "Offer DFlash Desktop for .gguf files and for folders of models"
Name: "path"; Description: "Make the command dflash-desktop known to terminals"; Flags: unchecked

[InstallDelete]
; An update in place: nothing of the version before may be found by the new one.
Type: filesandordirs; Name: "{app}\_internal"
Type: filesandordirs; Name: "{app}\tools"
Type: filesandordirs; Name: "{app}\licences"

[Files]
Source: "{#SourceDir}\dflash-desktop.exe"; DestDir: "{app}"; Flags: ignoreversion
Source: "{#SourceDir}\dflash-desktop.com"; DestDir: "{app}"; Flags: ignoreversion
Source: "{#SourceDir}\dflash-engine.exe"; DestDir: "{app}"; Flags: ignoreversion
Source: "{#SourceDir}\_internal\*"; DestDir: "{app}\_internal"; Flags: ignoreversion recursesubdirs createallsubdirs
Source: "{#SourceDir}\tools\*"; DestDir: "{app}\tools"; Flags: ignoreversion recursesubdirs createallsubdirs
Source: "{#SourceDir}\licences\*"; DestDir: "{app}\licences"; Flags: ignoreversion recursesubdirs createallsubdirs

[Icons]
Name: "{autoprograms}\{#AppName}"; Filename: "{app}\{#AppExe}"; AppUserModelID: "DFlashDesktop"
Name: "{autodesktop}\{#AppName}"; Filename: "{app}\{#AppExe}"; Tasks: desktopicon

[Registry]
Root: HKA; Subkey: "Software\Classes\.gguf\OpenWithProgids"; ValueType: string; ValueName: "DFlashDesktop.gguf"; ValueData: ""; Flags: uninsdeletevalue; Tasks: gguf
Root: HKA; Subkey: "Software\Classes\DFlashDesktop.gguf"; ValueType: string; ValueData: "GGUF language model"; Flags: uninsdeletekey; Tasks: gguf
Root: HKA; Subkey: "Software\Classes\DFlashDesktop.gguf\DefaultIcon"; ValueType: string; ValueData: "{app}\{#AppExe},0"; Tasks: gguf
Root: HKA; Subkey: "Software\Classes\DFlashDesktop.gguf\shell\open\command"; ValueType: string; ValueData: """{app}\{#AppExe}"" ""%1"""; Tasks: gguf
Root: HKA; Subkey: "Software\Classes\Directory\shell\DFlashDesktop"; ValueType: string; ValueData: "Open as a model in {#AppName}"; Flags: uninsdeletekey; Tasks: gguf
Root: HKA; Subkey: "Software\Classes\Directory\shell\DFlashDesktop"; ValueType: string; ValueName: "Icon"; ValueData: "{app}\{#AppExe}"; Tasks: gguf
Root: HKA; Subkey: "Software\Classes\Directory\shell\DFlashDesktop\command"; ValueType: string; ValueData: """{app}\{#AppExe}"" ""%1"""; Tasks: gguf
Root: HKCU; Subkey: "Environment"; ValueType: expandsz; ValueName: "Path"; ValueData: "{olddata};{app}"; Check: IsNotOnPath('{app}'); Tasks: path

[Run]
Filename: "{app}\{#AppExe}"; Description: "{cm:LaunchProgram,{#AppName}}"; Flags: nowait postinstall skipifsilent

[Code]
function IsNotOnPath(Folder: string): Boolean;
var
  Known: string;
begin
  if not RegQueryStringValue(HKCU, 'Environment', 'Path', Known) then
    Known := '';
  Result := Pos(';' + Lowercase(ExpandConstant(Folder)) + ';', ';' + Lowercase(Known) + ';') = 0;
end;

procedure TakeOffPath(Folder: string);
var
  Known, Rest: string;
  Place: Integer;
begin
  if not RegQueryStringValue(HKCU, 'Environment', 'Path', Known) then
    exit;
  Rest := ';' + Known + ';';
  Place := Pos(';' + Lowercase(Folder) + ';', Lowercase(Rest));
  if Place = 0 then
    exit;
  Delete(Rest, Place, Length(Folder) + 1);
  Rest := Copy(Rest, 2, Length(Rest) - 2);
  RegWriteExpandStringValue(HKCU, 'Environment', 'Path', Rest);
end;

function InstalledVersion: string;
var
  Key: string;
begin
  Key := 'Software\Microsoft\Windows\CurrentVersion\Uninstall\{6E1E8B5C-0C5A-4D7B-9D0C-6B0B3C1E7A52}_is1';
  if not RegQueryStringValue(HKCU, Key, 'DisplayVersion', Result) then
    Result := '';
end;

{ An older program refuses what a newer one wrote, and says so; here it can still be avoided. }
function InitializeSetup: Boolean;
var
  Here, Ours: Int64;
begin
  Result := True;
  if not StrToVersion(InstalledVersion, Here) then
    exit;
  if StrToVersion('{#AppVersion}', Ours) and (ComparePackedVersion(Here, Ours) > 0) then
    Result := SuppressibleMsgBox(
      'Version ' + InstalledVersion + ' is installed, which is newer than {#AppVersion}.' + #13#10 +
      'The older version will not open settings and conversations that the newer one wrote; it ' +
      'leaves them as they are.' + #13#10 + #13#10 + 'Install the older version all the same?',
      mbConfirmation, MB_YESNO or MB_DEFBUTTON2, IDNO) = IDYES;
end;

procedure CurUninstallStepChanged(CurUninstallStep: TUninstallStep);
var
  Data: string;
begin
  if CurUninstallStep <> usPostUninstall then
    exit;
  TakeOffPath(ExpandConstant('{app}'));
  Data := ExpandConstant('{localappdata}\{#DataName}');
  if UninstallSilent or not DirExists(Data) then
    exit;
  if MsgBox(
    'Delete models, conversations and settings, too?' + #13#10 + #13#10 + 'They are in' + #13#10 +
    Data + #13#10 + 'A library of models that was moved to another folder stays in any case.',
    mbConfirmation, MB_YESNO or MB_DEFBUTTON2) = IDYES then
    if not DelTree(Data, True, True, True) then
      MsgBox('Something in ' + Data + ' is in use and was left there.', mbInformation, MB_OK);
end;
